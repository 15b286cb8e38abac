using System.IO.Compression;
using System.Text;
using Sluice.Server.Queue.Intake;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>Decompression of uploads with complete, truncated and damaged bytes.</summary>
public sealed class UnpackedStreamTests
{
    // A fixed text, because the effect of a flipped bit depends on it.
    private static readonly byte[] Plain = Encoding.ASCII.GetBytes(string.Concat(
        Enumerable.Range(1, 8).Select(number => $"<segment bytes=\"1000\" number=\"{number}\">{unchecked((ulong)number * 0x9E3779B97F4A7C15):x16}@test</segment>\n")));

    // Output of the bzip2 program: "Hello, NZB" twice, in two streams.
    private static readonly byte[] Foreign = Convert.FromBase64String(
        "QlpoOTFBWSZTWRJgdMIAAAJXAAAQQAQQQQAQAgSgADEAMCBpppoA1hS5x4u5IpwoSAkwOmEAQlpoOTFBWSZTWRJgdMIAAAJXAAAQQAQQQQAQAgSgADEAMCBpppoA1hS5x4u5IpwoSAkwOmEA");

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Concatenated_streams_unpack_as_one_file()
    {
        Assert.Equal("Hello, NZB\nHello, NZB\n"u8.ToArray(), await UnpackAsync("bzip2", Foreign));
        Assert.Equal(Plain, await UnpackAsync("bzip2", [.. Plain.Chunk(100).SelectMany(NzbText.Bzip2)]));
        Assert.Equal(Plain, await UnpackAsync("bzip2", [.. NzbText.Bzip2([]), .. NzbText.Bzip2(Plain), .. NzbText.Bzip2([])]));
        Assert.Equal(Plain, await UnpackAsync("gzip", [.. NzbText.Gzip(Plain[..100]), .. NzbText.Gzip(Plain[100..])]));
        Assert.Empty(await UnpackAsync("bzip2", NzbText.Bzip2([])));
    }

    [Theory]
    [InlineData("B")]
    [InlineData("BZ")]
    [InlineData("garbage")]
    [InlineData("\0\0\0\0")]
    public async Task Trailing_garbage_is_ignored(string garbage) =>
        Assert.Equal(Plain, await UnpackAsync("bzip2", [.. NzbText.Bzip2(Plain), .. garbage.Select(c => (byte)c)]));

    [Fact]
    public async Task Truncated_stream_is_damaged()
    {
        var packed = SmallBzip2(Plain);
        for (var length = 4; length < packed.Length; length++)
            await AssertDamagedAsync("bzip2", packed[..length]);
    }

    [Fact]
    public async Task Truncation_is_damage_unless_it_is_between_streams()
    {
        var packed = SmallBzip2(Plain);
        byte[] two = [.. packed, .. packed];

        Assert.Equal(Plain, await UnpackAsync("bzip2", two[..packed.Length]));
        for (var length = packed.Length + 4; length < two.Length; length += 7)
            await AssertDamagedAsync("bzip2", two[..length]);
    }

    [Fact]
    public async Task Flipped_bit_is_detected_or_changes_nothing()
    {
        var packed = SmallBzip2(Plain);
        for (var bit = 24; bit < packed.Length * 8; bit++)
        {
            byte[] broken = [.. packed];
            broken[bit / 8] ^= (byte)(1 << (bit % 8));
            byte[] unpacked;
            try
            {
                unpacked = await UnpackAsync("bzip2", broken);
            }
            catch (NzbFormatException e) when ((e.Fault, e.Detail) == (NzbFault.NotAnNzb, "damaged bzip2"))
            {
                continue;
            }

            Assert.Equal(Plain, unpacked);
        }
    }

    [Fact]
    public async Task Read_of_empty_streams_can_be_canceled()
    {
        using var cancel = new CancellationTokenSource();
        await cancel.CancelAsync();
        await using var unpacked = new UnpackedStream(new Bzip2Reader(new MemoryStream(NzbText.Bzip2([]))), "bzip2", () => 0, new UnpackBudget(14));

        await Assert.ThrowsAsync<OperationCanceledException>(async () => await unpacked.ReadExactlyAsync(new byte[10], cancel.Token));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(40)]
    public async Task More_than_1000_tiny_streams_are_refused(int bytesEach)
    {
        var one = SmallBzip2(new byte[bytesEach]);
        Assert.Equal(1_000 * bytesEach, (await UnpackAsync("bzip2", Repeated(one, 1_000))).Length);
        await AssertDamagedAsync("bzip2", Repeated(one, 1_001));

        // The reader stops at the limit, regardless of the remaining length.
        var many = new MemoryStream(Repeated(one, 20_000));
        await using var unpacked = new UnpackedStream(new Bzip2Reader(many), "bzip2", () => many.Position, new UnpackBudget(many.Length));
        await Assert.ThrowsAsync<NzbFormatException>(() => unpacked.CopyToAsync(Stream.Null, Token));
        Assert.InRange(many.Position, 0, 1_001 * one.Length);
    }

    [Fact]
    public async Task More_than_1000_full_streams_unpack_as_one_file()
    {
        // The smallest possible blocks.
        var plain = new byte[100_000];
        new Random(1).NextBytes(plain.AsSpan(0, 2_000));
        Assert.Equal(1_050 * plain.Length, (await UnpackAsync("bzip2", Repeated(SmallBzip2(plain), 1_050))).Length);
    }

    /// <summary>Packs into one block, and says that blocks are small, because a reader would otherwise allocate megabytes for each stream.</summary>
    private static byte[] SmallBzip2(byte[] plain)
    {
        var packed = NzbText.Bzip2(plain);
        Assert.Equal("BZh9"u8, packed.AsSpan(0, 4));
        packed[3] = (byte)'1';
        return packed;
    }

    private static byte[] Repeated(byte[] bytes, int times) => [.. Enumerable.Repeat(bytes, times).SelectMany(each => each)];

    private static async Task AssertDamagedAsync(string format, byte[] packed)
    {
        var refusal = await Assert.ThrowsAsync<NzbFormatException>(() => UnpackAsync(format, packed));
        Assert.Equal((NzbFault.NotAnNzb, $"damaged {format}"), (refusal.Fault, refusal.Detail));
    }

    private static async Task<byte[]> UnpackAsync(string format, byte[] packed)
    {
        var file = new MemoryStream(packed);
        Stream decoder = format == "gzip" ? new GZipStream(file, CompressionMode.Decompress) : new Bzip2Reader(file);
        await using var unpacked = new UnpackedStream(decoder, format, () => file.Position, new UnpackBudget(packed.Length));
        var plain = new MemoryStream();
        await unpacked.CopyToAsync(plain, Token);
        return plain.ToArray();
    }
}
