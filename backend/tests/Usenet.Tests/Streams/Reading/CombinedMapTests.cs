using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

public sealed class CombinedMapTests
{
    [Fact]
    public void Random_slices_map_every_byte_like_a_plain_list()
    {
        var random = new Random(8);
        for (var round = 0; round < 300; round++)
        {
            var files = Enumerable.Range(0, random.Next(1, 5)).Select(_ => RandomFile(random)).ToArray();
            var extents = Enumerable.Range(0, random.Next(1, 6)).Select(_ => RandomSlice(random, files[random.Next(files.Length)])).ToArray();
            var map = new CombinedMap(extents);
            var bytes = extents.SelectMany(extent => Enumerable.Range(0, (int)extent.Length).Select(i => (extent.File, At: extent.Offset + i))).ToArray();

            Assert.Equal(bytes.Length, map.Length);
            var pieces = Enumerable.Range(0, map.PieceCount).Select(number => map[number]).ToArray();
            Assert.Equal(map.Length, pieces.Sum(piece => (long)piece.Length));
            for (var position = 0; position < bytes.Length; position++)
            {
                var piece = pieces[map.Locate(position)];
                Assert.InRange(position, piece.Begin, piece.End - 1);
                Assert.Same(bytes[position].File, piece.File);
                Assert.Equal(bytes[position].At, piece.Segment.Begin + piece.SliceBegin + position - piece.Begin);
            }
        }
    }

    [Theory]
    [InlineData(-1, 5)]
    [InlineData(0, 101)]
    [InlineData(100, 1)]
    [InlineData(long.MaxValue, 1)]
    public void A_slice_outside_its_file_is_refused(long offset, long length)
    {
        var file = new PostedFile(SegmentMap.Uniform(10, 10, 100), FixedIds.None(10));
        Assert.Throws<ArgumentException>(() => new CombinedMap([new FileExtent(file, offset, length)]));
    }

    private static PostedFile RandomFile(Random random)
    {
        var lengths = Enumerable.Range(0, random.Next(1, 9)).Select(_ => (long)random.Next(1, 12)).ToArray();
        return new PostedFile(SegmentMap.FromLengths(lengths), FixedIds.None(lengths.Length));
    }

    private static FileExtent RandomSlice(Random random, PostedFile file)
    {
        var offset = random.NextInt64(file.Map.Length + 1);
        return new FileExtent(file, offset, random.NextInt64(file.Map.Length - offset + 1));
    }
}
