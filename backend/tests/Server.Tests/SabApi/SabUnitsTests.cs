using Sluice.Server.SabApi;
using Xunit;

namespace Sluice.Server.Tests.SabApi;

/// <summary>Times and sizes have one format each, because a client that cannot parse one discards the whole response (SAB-30, SAB-31).</summary>
public sealed class SabUnitsTests
{
    [Theory]
    [InlineData(0, "0:00:00")]
    [InlineData(-5, "0:00:00")]
    [InlineData(9.9, "0:00:09")]
    [InlineData(3_599, "0:59:59")]
    [InlineData(36_000, "10:00:00")]
    [InlineData(86_399, "23:59:59")]
    [InlineData(86_400, "1:00:00:00")]
    [InlineData(99 * 86_400 + 3_661, "99:01:01:01")]
    public void Time_left_is_formatted_with_days_from_24_hours_on(double seconds, string expected) =>
        Assert.Equal(expected, SabUnits.TimeLeft(TimeSpan.FromSeconds(seconds)));

    [Fact]
    public void Unknown_time_left_is_formatted_as_zero() => Assert.Equal("0:00:00", SabUnits.TimeLeft(null));

    [Theory]
    [InlineData(0, "0:00")]
    [InlineData(59.9, "0:59")]
    [InlineData(61, "1:01")]
    [InlineData(5_400, "90:00")]
    [InlineData(30 * 86_400, "43200:00")]
    public void Remaining_pause_is_formatted_in_minutes(double seconds, string expected) =>
        Assert.Equal(expected, SabUnits.PauseLeft(TimeSpan.FromSeconds(seconds)));

    [Fact]
    public void Pause_without_an_end_is_formatted_as_zero() => Assert.Equal("0", SabUnits.PauseLeft(null));

    [Theory]
    [InlineData(0, "0.00", "0 B", "0 B")]
    [InlineData(1_023, "0.00", "1023 B", "1 K")]
    [InlineData(1_048_576, "1.00", "1.0 MB", "1.0 M")]
    [InlineData(8_520_099_430, "8125.40", "7.9 GB", "7.9 G")]
    [InlineData(1_319_413_953_332, "1258291.20", "1.2 TB", "1.2 T")]
    public void Size_is_formatted_in_three_styles(double bytes, string mebibytes, string size, string shortSize)
    {
        Assert.Equal(mebibytes, SabUnits.Mebibytes(bytes));
        Assert.Equal(size, SabUnits.Size(bytes));
        Assert.Equal(shortSize, SabUnits.Short(bytes));
    }
}
