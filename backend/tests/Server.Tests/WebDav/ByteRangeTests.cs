using FsCheck;
using FsCheck.Fluent;
using Sluice.Server.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

public sealed class ByteRangeTests
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
    public void Satisfiable_range_is_a_part(string header, long size, string contentRange)
    {
        ByteRange range = ByteRange.Parse(header, size);

        Assert.Equal(RangeKind.Part, range.Kind);
        Assert.Equal(contentRange, range.ContentRange);
    }

    [Theory]
    [InlineData("bytes=100-", 100)]
    [InlineData("bytes=100-200", 100)]
    [InlineData("bytes=9223372036854775807-", 100)]
    [InlineData("bytes=-0", 100)]
    [InlineData("bytes=100-200, 300-, -0", 100)]
    public void Range_outside_of_the_file_is_unsatisfiable(string header, long size)
    {
        ByteRange range = ByteRange.Parse(header, size);

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
    [InlineData("bytes=0-1,4-5", 100)]
    [InlineData("bytes=0-1,400-", 100)]
    [InlineData("bytes=0-1,x", 100)]
    [InlineData("bytes=0-", 0)]
    [InlineData("bytes=-5", 0)]
    [InlineData("bytes=5-", 0)]
    public void Anything_else_is_ignored(string? header, long size) =>
        Assert.Equal(ByteRange.Whole(size), ByteRange.Parse(header, size));

    [Fact]
    public void Ten_thousand_ranges_are_the_whole_file() =>
        Assert.Equal(
            ByteRange.Whole(1 << 20),
            ByteRange.Parse("bytes=" + string.Join(',', Enumerable.Repeat("0-1000000", 10_000)), 1 << 20));

    [Fact]
    public void Part_lies_inside_the_file() => Prop.ForAll<int, int, PositiveInt>((first, last, size) =>
    {
        ByteRange range = ByteRange.Parse($"bytes={first}-{last}", size.Get);
        return range.Offset >= 0 && range.Length >= 0 && range.Offset + range.Length <= size.Get
            && (range.Kind == RangeKind.Part) == (first >= 0 && last >= first && first < size.Get);
    }).QuickCheckThrowOnFailure();
}
