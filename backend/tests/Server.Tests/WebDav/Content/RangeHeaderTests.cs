using FsCheck;
using FsCheck.Fluent;
using Sluice.Server.WebDav.Content;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

public sealed class RangeHeaderTests
{
    [Theory]
    [InlineData("bytes=0-0", 100, "bytes 0-0/100")]
    [InlineData("bytes=10-19", 100, "bytes 10-19/100")]
    [InlineData("bytes=10-500", 100, "bytes 10-99/100")]
    [InlineData("bytes=0-99", 100, "bytes 0-99/100")]
    [InlineData("bytes=99-99", 100, "bytes 99-99/100")]
    [InlineData("bytes=0-", 100, "bytes 0-99/100")]
    [InlineData("bytes=99-", 100, "bytes 99-99/100")]
    [InlineData("bytes=-1", 100, "bytes 99-99/100")]
    [InlineData("bytes=-100", 100, "bytes 0-99/100")]
    [InlineData("bytes=-1000", 100, "bytes 0-99/100")]
    [InlineData("bytes=0-9223372036854775807", 100, "bytes 0-99/100")]
    [InlineData("BYTES=1-2", 100, "bytes 1-2/100")]
    [InlineData(" bytes=1-2 ", 100, "bytes 1-2/100")]
    [InlineData("bytes= 1-2", 100, "bytes 1-2/100")]
    [InlineData("bytes=1-2,", 100, "bytes 1-2/100")]
    [InlineData("bytes=,1-2", 100, "bytes 1-2/100")]
    [InlineData("bytes=9007199254740993-9007199254740994", 9007199254740999, "bytes 9007199254740993-9007199254740994/9007199254740999")]
    public void Satisfiable_range_gives_one_part(string header, long size, string contentRange)
    {
        var range = Assert.Single(RangeHeader.Parse(header, size));

        Assert.Equal(RangeKind.Part, range.Kind);
        Assert.Equal(contentRange, range.ContentRange);
    }

    [Theory]
    [InlineData("bytes=100-", 100)]
    [InlineData("bytes=100-200", 100)]
    [InlineData("bytes=9223372036854775807-", 100)]
    [InlineData("bytes=-0", 100)]
    [InlineData("bytes=100-200, 300-, -0", 100)]
    public void Range_outside_the_file_is_unsatisfiable(string header, long size)
    {
        var range = Assert.Single(RangeHeader.Parse(header, size));

        Assert.Equal(RangeKind.Unsatisfiable, range.Kind);
        Assert.Equal($"bytes */{size}", range.ContentRange);
    }

    [Theory]
    [InlineData(null, 100)]
    [InlineData("", 100)]
    [InlineData("bytes", 100)]
    [InlineData("bytes=", 100)]
    [InlineData("bytes=,", 100)]
    [InlineData("bytes=-", 100)]
    [InlineData("bytes=a-b", 100)]
    [InlineData("bytes=1", 100)]
    [InlineData("bytes=+1-2", 100)]
    [InlineData("bytes=1-2-3", 100)]
    [InlineData("bytes=--1", 100)]
    [InlineData("bytes=5-4", 100)]
    [InlineData("bytes=1 -2", 100)]
    [InlineData("bytes=0x1-2", 100)]
    [InlineData("bytes=9223372036854775808-", 100)]
    [InlineData("bytes=0-99999999999999999999", 100)]
    [InlineData("bytes=-99999999999999999999", 100)]
    [InlineData("lines=1-2", 100)]
    [InlineData("bytes 1-2", 100)]
    [InlineData("bytes=0-1,4-5,8-9,12-13,16-17,20-21", 100)]
    [InlineData("bytes=0-1,x", 100)]
    [InlineData("bytes=0-", 0)]
    [InlineData("bytes=-5", 0)]
    [InlineData("bytes=5-", 0)]
    public void Unusable_range_gives_the_whole_file(string? header, long size) =>
        Assert.Equal([ByteRange.Whole(size)], RangeHeader.Parse(header, size));

    [Theory]
    [InlineData("bytes=0-1,4-5", "0-1 4-5")]
    [InlineData("bytes=4-5,0-1", "4-5 0-1")]
    [InlineData("bytes=50-59, 0-9, 55-70, 9-20", "50-70 0-20")]
    [InlineData("bytes=-5,0-0,97-98", "95-99 0-0")]
    [InlineData("bytes=0-9,400-,20-29", "0-9 20-29")]
    [InlineData("bytes=0-1,3-4,6-7,9-10,12-13", "0-1 3-4 6-7 9-10 12-13")]
    [InlineData("bytes=0-1,3-4,6-7,9-10,12-13,2-2", "0-4 6-7 9-10 12-13")]
    [InlineData("bytes=0-1,400-", "0-1")]
    [InlineData("bytes=0-9,10-19", "0-19")]
    [InlineData("bytes=10-19,0-9", "0-19")]
    [InlineData("bytes=0-99,5-6,50-", "0-99")]
    public void Several_ranges_are_merged_and_keep_their_order(string header, string parts) =>
        Assert.Equal(
            parts.Split(' ').Select(part => $"bytes {part}/100"),
            RangeHeader.Parse(header, 100).Select(part => part.ContentRange));

    [Fact]
    public void Ten_thousand_overlapping_ranges_are_one_part()
    {
        var header = "bytes=" + string.Join(',', Enumerable.Range(0, 10_000).Select(i => $"{i * 7 % 10_000}-1000000"));

        var part = Assert.Single(RangeHeader.Parse(header, 1 << 20));

        Assert.Equal("bytes 0-1000000/1048576", part.ContentRange);
    }

    [Fact]
    public void Too_many_disjoint_ranges_give_the_whole_file() =>
        Assert.Equal(
            [ByteRange.Whole(1 << 20)],
            RangeHeader.Parse("bytes=" + string.Join(',', Enumerable.Range(0, 10_000).Select(i => $"{3 * i}-{3 * i}")), 1 << 20));

    [Fact]
    public void Parts_cover_every_requested_byte_exactly_once() => Prop.ForAll<byte[]>(numbers =>
    {
        const int size = 200;
        var wanted = new SortedSet<int>();
        var specs = new List<string>();
        for (var i = 0; i + 1 < numbers.Length; i += 2)
        {
            var last = numbers[i] + (numbers[i + 1] / 8);
            specs.Add($"{numbers[i]}-{last}");
            wanted.UnionWith(Enumerable.Range(numbers[i], last - numbers[i] + 1).Where(offset => offset < size));
        }

        if (specs.Count == 0)
            return true;
        var parts = RangeHeader.Parse("bytes=" + string.Join(',', specs), size);
        if (parts[0].Kind != RangeKind.Part)
            return parts.Count == 1 && (parts[0].Kind == RangeKind.Whole || wanted.Count == 0);
        int[] sent = [.. parts.SelectMany(part => Enumerable.Range((int)part.Offset, (int)part.Length)).Order()];
        return sent.SequenceEqual(wanted) && parts.Count <= 5;
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void Range_part_is_within_the_file() => Prop.ForAll<int, int, PositiveInt>((first, last, size) =>
    {
        var range = RangeHeader.Parse($"bytes={first}-{last}", size.Get).Single();
        return range.Offset >= 0 && range.Length >= 0 && range.Offset + range.Length <= size.Get
            && (range.Kind == RangeKind.Part) == (first >= 0 && last >= first && first < size.Get);
    }).QuickCheckThrowOnFailure();
}
