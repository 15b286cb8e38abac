using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Yenc;

/// <summary>Kernels never read outside their source or write outside their destination.</summary>
public sealed class GuardPageTests
{
    [Fact]
    public void Kernels_stay_inside_source_and_destination()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "mmap as Linux has it");
        using var source = new GuardedMemory(pages: 1);
        using var destination = new GuardedMemory(pages: 1);
        var random = new Random(8);
        var text = TestArticle.Bytes(TestArticle.Encode(TestArticle.Noise(500), line: 40).Replace("\r\n", "\r\n..=", StringComparison.Ordinal));
        foreach (var kernel in YencKernel.Supported)
        {
            for (var length = 0; length < text.Length; length++)
            {
                var room = random.Next(length + 80);
                var expected = YencReference.Decode(text.AsSpan(0, length)).Output;
                Check(kernel, text.AsSpan(0, length), source.Last(length), destination.Last(room), expected);
                Check(kernel, text.AsSpan(0, length), source.First(length), destination.First(room), expected);
                Check(kernel, text.AsSpan(0, length), source.Last(length), destination.Last(length), expected);
            }
        }
    }

    [Fact]
    public void Checksums_stay_inside_their_data()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "mmap as Linux has it");
        using var memory = new GuardedMemory(pages: 1);
        for (var length = 0; length < 700; length++)
        {
            memory.Last(length).Fill(0x5A);
            var expected = YencReference.Crc(memory.Last(length));
            Assert.Equal(expected, Crc32Kernel.Append(0, memory.Last(length)));
            memory.First(length).Fill(0x5A);
            Assert.Equal(expected, Crc32Kernel.Append(0, memory.First(length)));
        }
    }

    private static void Check(YencKernel kernel, ReadOnlySpan<byte> text, Span<byte> source, Span<byte> destination, byte[] expected)
    {
        text.CopyTo(source);
        YencState state = default;

        var stop = kernel.Decode(source, destination, ref state, out var consumed, out var written);

        Assert.Equal(expected.Length > destination.Length ? YencStop.DestinationFull : YencStop.NeedInput, stop);
        Assert.Equal(Math.Min(expected.Length, destination.Length), written);
        Assert.InRange(consumed, written, source.Length);
        Assert.True(expected.AsSpan(0, written).SequenceEqual(destination[..written]));
    }
}
