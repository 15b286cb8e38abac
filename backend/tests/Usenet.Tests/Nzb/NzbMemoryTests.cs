using Sluice.Testing;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nzb;

/// <summary>Measures the memory of the process, so no other test may run concurrently.</summary>
[CollectionDefinition(nameof(NzbMemoryTests), DisableParallelization = true)]
[Collection(nameof(NzbMemoryTests))]
public sealed class NzbMemoryTests
{
    private const long MiB = 1 << 20;

    [Fact]
    public async Task Large_nzb_with_60_files_is_packed_within_8_MiB()
    {
        // Some 30 MB of XML, never in memory as a whole, because it is generated while it is read.
        await using var nzb = GeneratedNzb.Of(files: 60, segments: 5000);
        var before = GC.GetTotalMemory(forceFullCollection: true);
        var peak = 0L;
        var writer = new MessageIdListWriter(Stream.Null);
        await foreach (var file in NzbReader.ReadAsync(nzb, null, new NzbHead(), TestContext.Current.CancellationToken))
        {
            await writer.AddAsync(file, TestContext.Current.CancellationToken);
            peak = Math.Max(peak, GC.GetTotalMemory(forceFullCollection: true) - before);
        }

        Assert.Equal(300_000, writer.Count);
        Assert.InRange(nzb.BytesRead, 25 * MiB, long.MaxValue);
        Assert.InRange(peak, 0, 8 * MiB);
    }

    [Theory]
    [InlineData("rising", 8)]
    [InlineData("shuffled", 16)]
    [InlineData("unnumbered", 16)]
    public async Task Nzb_with_one_large_file_is_packed_within_a_few_MiB(string order, int most)
    {
        const int count = 300_000;
        var before = GC.GetTotalMemory(forceFullCollection: true);
        var (peak, calls) = (0L, 0);
        var scratch = new ScratchFile { OnRead = () => Look(order == "shuffled" ? 5000 : 50) };
        await using var nzb = GeneratedNzb.Of(Segments());
        var packed = new MessageIdListWriter(Stream.Null);
        await foreach (var file in NzbReader.ReadAsync(nzb, null, new NzbHead(), scratch.Make, TestContext.Current.CancellationToken))
        {
            await packed.AddAsync(file, TestContext.Current.CancellationToken);
            Look(1);
        }

        Assert.Equal((count, 0), (packed.Count, scratch.Open));
        TestContext.Current.TestOutputHelper?.WriteLine($"{order}: {peak >> 10} KiB");
        Assert.InRange(scratch.Made, 1, 2);
        Assert.InRange(peak, 0, most * MiB);

        IEnumerable<string> Segments()
        {
            // A step coprime to the count visits each number once.
            for (var i = 0; i < count; i++)
            {
                Look(5000);
                var number = order == "shuffled" ? 1 + (int)((i * 7919L) % count) : 1 + i;
                yield return GeneratedNzb.Segment(order == "unnumbered" ? null : number, $"x{number}");
            }
        }

        // Measures at every n-th call, because one measurement takes some milliseconds.
        void Look(int each)
        {
            if (++calls % each == 0)
                peak = Math.Max(peak, GC.GetTotalMemory(forceFullCollection: true) - before);
        }
    }

    [Theory]
    [InlineData("<nzb><file subject=\"", "sssssssssssssssssssssssssssssss")]
    [InlineData("<nzb><x><![CDATA[", "sssssssssssssssssssssssssssss<s")]
    public async Task Huge_attribute_or_section_is_refused_before_buffering(string start, string text)
    {
        await using var nzb = new GeneratedTextStream(Enumerable.Repeat(text, (int)(200 * MiB / text.Length)).Prepend(start));
        var before = GC.GetTotalMemory(forceFullCollection: true);

        await Assert.ThrowsAsync<NzbFormatException>(() => NzbSource.ReadAsync(nzb));

        Assert.InRange(nzb.BytesRead, 0, MiB);
        Assert.InRange(GC.GetTotalMemory(forceFullCollection: false) - before, -64 * MiB, 16 * MiB);
    }
}
