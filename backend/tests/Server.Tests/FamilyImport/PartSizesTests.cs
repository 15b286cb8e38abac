using Sluice.Server.FamilyImport;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Server.Tests.FamilyImport;

/// <summary>Estimates of segment offsets.</summary>
public sealed class PartSizesTests
{
    [Theory]
    [InlineData(716_800)]
    [InlineData(768_000)]
    [InlineData(384_000)]
    [InlineData(1_048_576)]
    public void Common_part_size_is_estimated_exactly(int partSize)
    {
        const long length = 4_000_000_007;
        var count = (int)((length + partSize - 1) / partSize);

        Assert.Equal(SegmentMap.Uniform(count, partSize, length), PartSizes.Estimate(count, length, null));
    }

    [Fact]
    public void Volumes_of_a_release_narrow_the_estimated_part_size()
    {
        var files = Enumerable.Range(0, 40).Select(i => (Count: (50_000_000 + (i * 160_001) + 640_255) / 640_256, Length: 50_000_000L + (i * 160_001))).ToList();

        Assert.InRange(PartSizes.OfRelease(files)!.Value, 640_256 - 256, 640_256 + 256);
        Assert.Null(PartSizes.OfRelease([(100, 71_680_000), (100, 38_400_000)]));
        Assert.Null(PartSizes.OfRelease([(1, 5_000)]));
    }

    [Fact]
    public void Estimate_keeps_the_given_count_and_length_or_is_null()
    {
        foreach (var count in (int[])[1, 2, 3, 7, 100, 5_000])
        {
            foreach (var length in (long[])[1, 2, 5, 99, 100, 101, 12_345, 5_000_000, 16 << 20, (16 << 20) + 1L, long.MaxValue])
            {
                var map = PartSizes.Estimate(count, length, 716_800);
                if (map is not null)
                    Assert.Equal((count, length), (map.Count, map.Length));
                else
                    Assert.True(length < count || length > (long)count * SegmentMap.MaxSegmentLength, $"{count} of {length}");
            }
        }

        Assert.Null(PartSizes.Estimate(0, 5, null));
        Assert.Null(PartSizes.Estimate(-1, 5, null));
        Assert.Null(PartSizes.Estimate(SegmentMap.MaxCount + 1, long.MaxValue, null));
    }
}
