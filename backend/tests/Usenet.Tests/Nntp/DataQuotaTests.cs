using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>The decisions that follow from a data cap (HLT-102, HLT-105).</summary>
public sealed class DataQuotaTests
{
    private const long Article = 1_000;

    [Theory]
    [InlineData(0, QuotaState.Free)]
    [InlineData(79_999, QuotaState.Free)]
    [InlineData(80_000, QuotaState.FillOnly)]
    [InlineData(99_000, QuotaState.FillOnly)]
    [InlineData(99_001, QuotaState.Spent)]
    [InlineData(250_000, QuotaState.Spent)]
    [InlineData(-50_000, QuotaState.Free)]
    public void State_follows_from_what_is_left(long used, QuotaState expected) =>
        Assert.Equal(expected, new DataQuota(100_000) { ReservePercent = 20 }.StateAt(used, Article));

    [Theory]
    [InlineData(99_000, QuotaState.Free)]
    [InlineData(99_001, QuotaState.Spent)]
    public void Cap_without_a_reserve_is_free_until_it_is_spent(long used, QuotaState expected) =>
        Assert.Equal(expected, new DataQuota(100_000).StateAt(used, Article));

    [Fact]
    public void Reserve_of_the_largest_cap_does_not_overflow()
    {
        var quota = new DataQuota(1_000_000_000_000_000_000) { ReservePercent = 90 };
        Assert.Equal(QuotaState.Free, quota.StateAt(99_999_999_999_999_999, Article));
        Assert.Equal(QuotaState.FillOnly, quota.StateAt(100_000_000_000_000_000, Article));
    }

    [Theory]
    [InlineData(15, "2026-03-14", "2026-02-15", "2026-03-15")]
    [InlineData(15, "2026-03-15", "2026-03-15", "2026-04-15")]
    [InlineData(28, "2026-03-01", "2026-02-28", "2026-03-28")]
    [InlineData(28, "2026-01-27", "2025-12-28", "2026-01-28")]
    [InlineData(1, "2025-12-31", "2025-12-01", "2026-01-01")]
    public void Period_begins_on_the_reset_day(int resetDay, string today, string begins, string next)
    {
        var quota = new DataQuota(1) { ResetDay = resetDay };
        Assert.Equal((Day(begins), Day(next)), (quota.PeriodOf(Day(today)), quota.NextReset(Day(today))));
    }

    [Fact]
    public void Block_has_one_period_without_an_end()
    {
        var block = new DataQuota(1);
        Assert.True(block.IsBlock);
        Assert.Equal((DateOnly.MinValue, null), (block.PeriodOf(Day("2026-03-14")), block.NextReset(Day("2026-03-14"))));
    }

    private static DateOnly Day(string text) => DateOnly.ParseExact(text, "yyyy-MM-dd", System.Globalization.CultureInfo.InvariantCulture);
}
