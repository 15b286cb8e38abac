using Sluice.Server.Queue.Steps;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Server.Tests.Queue;

public sealed class SegmentSampleTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(63)]
    [InlineData(64)]
    [InlineData(65)]
    [InlineData(1000)]
    [InlineData(744_439)]
    public void Sample_picks_each_segment_once_starting_with_both_ends(int segments)
    {
        var picked = SegmentSample.Pick([Entry(0, 10, segments)], 64);

        Assert.Equal(Math.Min(64, segments), picked.Count);
        Assert.Equal(picked.Distinct(), picked);
        Assert.Equal(10, picked[0]);
        Assert.Equal(segments > 1 ? 10 + segments - 1 : 10, picked[Math.Min(1, picked.Count - 1)]);
        Assert.All(picked, place => Assert.InRange(place, 10, 10 + segments - 1));
    }

    [Theory]
    [InlineData(8)]
    [InlineData(16)]
    [InlineData(32)]
    public void Any_prefix_of_the_sample_is_spread_evenly(int beginning)
    {
        const int segments = 100_000;
        var places = SegmentSample.Pick([Entry(0, 0, segments)], 64).Take(beginning).Order().ToList();

        // No gap is longer than twice the distance of evenly spaced offsets.
        Assert.All(places.Zip(places.Skip(1)), pair => Assert.InRange(pair.Second - pair.First, 1, 2 * segments / (beginning - 2)));
    }

    [Fact]
    public void Sample_covers_all_files_and_nothing_in_between()
    {
        var picked = SegmentSample.Pick([Entry(0, 0, 10), Entry(1, 100, 0), Entry(2, 200, 10)], 64);

        Assert.Equal([.. Enumerable.Range(0, 10), .. Enumerable.Range(200, 10)], picked.Order());
    }

    [Fact]
    public void Sample_from_no_segments_is_empty() => Assert.Empty(SegmentSample.Pick([], 64));

    private static PostedEntry Entry(int ordinal, int first, int segments) => new(ordinal, first, segments, 0, NzbSubject.Parse("a"), []);
}
