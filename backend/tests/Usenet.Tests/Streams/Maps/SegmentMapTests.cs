using FsCheck;
using FsCheck.Fluent;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

public sealed class SegmentMapTests
{
    [Theory]
    [InlineData(1, 0, 0)]
    [InlineData(1, 700_000, 700_000)]
    [InlineData(1, 9, 4)]
    [InlineData(2, 10, 20)]
    [InlineData(3, 10, 21)]
    [InlineData(4, 10, 40)]
    public void Uniform_map_places_every_byte(int count, long partSize, long fileSize)
    {
        var map = SegmentMap.Uniform(count, partSize, fileSize);

        Assert.Equal(count, map.Count);
        Assert.Equal(fileSize, map.Length);
        AssertConsistent(map);
    }

    [Fact]
    public void Large_uniform_map_locates_exactly_and_packs_small()
    {
        var map = SegmentMap.Uniform(100_000, 716_800, 99_999L * 716_800 + 1);

        Assert.Equal(new Segment(50_000, 50_000L * 716_800, 716_800), map.Locate(50_000L * 716_800 + 716_799));
        Assert.Equal(new Segment(99_999, 99_999L * 716_800, 1), map.Locate(map.Length - 1));
        Assert.True(map.Pack().Length < 16);
    }

    [Theory]
    [InlineData(0, 10, 10)]
    [InlineData(3_000_001, 1, 3_000_001)]
    [InlineData(2, -1, 10)]
    [InlineData(2, 10, 9)]
    [InlineData(2, 10, -1)]
    [InlineData(2, 16_777_217, 16_777_218)]
    [InlineData(2, 10, 16_777_227)]
    [InlineData(1, 0, long.MaxValue)]
    public void Uniform_map_rejects_impossible_sizes(int count, long partSize, long fileSize) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => SegmentMap.Uniform(count, partSize, fileSize));

    [Fact]
    public void Any_lengths_are_placed_packed_and_unpacked_unchanged()
    {
        var lengths = Gen.OneOf(Gen.Constant(7L), Gen.Choose(0, 12).Select(value => (long)value)).NonEmptyListOf();
        Check.One(
            Config.QuickThrowOnFailure.WithMaxTest(500),
            Prop.ForAll(lengths.ToArbitrary(), list =>
            {
                var map = SegmentMap.FromLengths([.. list]);

                Assert.Equal(list.Sum(), map.Length);
                Assert.Equal(list, Enumerable.Range(0, map.Count).Select(index => (long)map[index].Length));
                AssertConsistent(map);
                Assert.Equal(map, SegmentMap.Unpack(map.Pack()));
                Assert.Equal(map.Length, SegmentMap.Unpack(map.Pack()).Length);
            }));
    }

    [Fact]
    public void Maps_with_the_same_geometry_are_equal()
    {
        Assert.Equal(SegmentMap.Uniform(3, 10, 24), SegmentMap.FromLengths([10, 10, 4]));
        Assert.Equal(SegmentMap.Uniform(3, 10, 24).Pack(), SegmentMap.FromLengths([10, 10, 4]).Pack());
        Assert.NotEqual(SegmentMap.Uniform(3, 10, 24), SegmentMap.FromLengths([10, 9, 5]));
    }

    [Theory]
    [InlineData(new long[0])]
    [InlineData(new long[] { 1, -1 })]
    [InlineData(new long[] { 16_777_217 })]
    public void Lengths_beyond_the_limits_are_refused(long[] lengths) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => SegmentMap.FromLengths(lengths));

    [Fact]
    public void Offsets_and_indexes_outside_the_file_are_refused()
    {
        var map = SegmentMap.Uniform(3, 10, 24);

        Assert.Throws<ArgumentOutOfRangeException>(() => map.Locate(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => map.Locate(24));
        Assert.Throws<ArgumentOutOfRangeException>(() => map[3]);
        Assert.Throws<ArgumentOutOfRangeException>(() => map[-1]);
    }

    [Fact]
    public void Damaged_packs_are_refused_or_stay_consistent()
    {
        var good = SegmentMap.FromLengths([10, 10, 3, 10, 12, 10, 4]).Pack();
        for (var length = 0; length < good.Length; length++)
            Assert.Throws<InvalidDataException>(() => SegmentMap.Unpack(good.AsSpan(0, length)));
        Assert.Throws<InvalidDataException>(() => SegmentMap.Unpack([.. good, 0]));

        for (var position = 0; position < good.Length; position++)
        {
            for (var value = 0; value < 256; value++)
            {
                var damaged = (byte[])good.Clone();
                damaged[position] = (byte)value;
                var thrown = Record.Exception(() => AssertConsistent(SegmentMap.Unpack(damaged)));
                Assert.True(thrown is null or InvalidDataException, thrown?.ToString());
            }
        }
    }

    [Fact]
    public void Posted_file_rejects_a_different_number_of_ids()
    {
        var map = SegmentMap.Uniform(3, 10, 24);

        Assert.Throws<ArgumentException>(() => new PostedFile(map, FixedIds.None(2)));
        Assert.Same(map, new PostedFile(map, FixedIds.None(3)).Map);
    }

    // Every segment begins at the end of the previous one, and lookups by offset find both borders of each.
    private static void AssertConsistent(SegmentMap map)
    {
        var begin = 0L;
        for (var index = 0; index < map.Count; index++)
        {
            var segment = map[index];
            Assert.Equal(begin, segment.Begin);
            if (segment.Length > 0)
            {
                Assert.Equal(segment, map.Locate(segment.Begin));
                Assert.Equal(segment, map.Locate(segment.End - 1));
            }

            begin = segment.End;
        }

        Assert.Equal(begin, map.Length);
    }
}
