using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nzb;

public sealed class SegmentSpoolTests
{
    // Twice the size that stays in memory.
    private const int MostLength = 8 << 20;

    private readonly ScratchFile _scratch = new();

    [Fact]
    public void Segments_are_read_back_in_order_and_by_position()
    {
        var random = new Random(5);
        using (var spool = new SegmentSpool(_scratch.Make))
        {
            // Reuses one spool, also for few segments after many.
            foreach (var length in (int[])[MostLength, 1000, MostLength, 0])
            {
                spool.Clear();
                var added = Fill(spool, random, length);
                spool.Complete();
                Assert.Equal(added.Count, spool.Count);

                var places = new List<long>();
                for (var place = 0L; place < spool.End;)
                {
                    AssertSame(added[places.Count], spool.Read(place));
                    places.Add(place);
                    place = spool.Read(place).Next;
                }

                Assert.Equal(added.Count, places.Count);
                for (var i = 0; i < Math.Min(added.Count, 5000); i++)
                {
                    var index = random.Next(added.Count);
                    AssertSame(added[index], spool.Read(places[index]));
                }
            }

            Assert.Equal((1, 1), (_scratch.Made, _scratch.Open));
        }

        Assert.Equal(0, _scratch.Open);
    }

    [Fact]
    public async Task Film_of_typical_size_needs_no_scratch_file()
    {
        await using var nzb = GeneratedNzb.Of(files: 2, segments: 28_000);
        await foreach (var file in NzbReader.ReadAsync(nzb, null, new NzbHead(), _scratch.Make, TestContext.Current.CancellationToken))
            Assert.Equal(28_000, file.Segments.Count(segment => !segment.IsHole));

        Assert.Equal(0, _scratch.Made);
    }

    [Fact]
    public async Task Scratch_file_segments_are_merged_as_in_memory()
    {
        // Holes, duplicates, and segments without a number, some of which repeat others.
        var random = new Random(11);
        var segments = Enumerable.Range(0, 160_000).Select(i => GeneratedNzb.Segment(
            random.Next(4) == 0 ? null : 1 + random.Next(120_000), $"{random.Next(150_000)}-{new string('x', i % 40)}")).ToList();

        var inMemory = await DescribeAsync(segments, null);
        var onDisk = await DescribeAsync(segments, _scratch.Make);

        Assert.Equal(inMemory, onDisk);
        Assert.Equal((2, 0), (_scratch.Made, _scratch.Open));
    }

    private static async Task<List<string>> DescribeAsync(List<string> segments, Func<Stream>? scratch)
    {
        var described = new List<string>();
        await using var nzb = GeneratedNzb.Of(segments);
        await foreach (var file in NzbReader.ReadAsync(nzb, null, new NzbHead(), scratch, TestContext.Current.CancellationToken))
        {
            described.Add($"{file.Segments.Count} {file.Holes}");
            described.AddRange(file.Segments.Select(segment => string.Join('+', segment.Ids.Fallbacks.Prepend(segment.Ids.Primary))));
        }

        return described;
    }

    private static List<(int Number, int Bytes, byte[] Ids)> Fill(SegmentSpool spool, Random random, int length)
    {
        var added = new List<(int, int, byte[])>();
        for (var size = 0; size < length; size += added[^1].Item3.Length)
        {
            byte[] ids = [(byte)random.Next(1, PackedIds.MaxIds + 1)];
            for (var i = 0; i < ids[0]; i++)
                ids = [.. ids, .. Id(random)];
            added.Add((random.Next(), random.Next(), ids));
            spool.Add(added[^1].Item1, added[^1].Item2, ids);
        }

        return added;
    }

    private static byte[] Id(Random random)
    {
        var id = new byte[1 + (random.Next(20) == 0 ? MessageId.MaxLength : random.Next(1, 60))];
        Array.Fill(id, (byte)random.Next('a', 'z'));
        id[0] = (byte)(id.Length - 1);
        return id;
    }

    private static void AssertSame((int Number, int Bytes, byte[] Ids) expected, SpooledSegment segment)
    {
        Assert.Equal((expected.Number, expected.Bytes), (segment.Number, segment.Bytes));
        Assert.True(segment.PackedIds.SequenceEqual(expected.Ids));
    }
}
