using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>When an article is late, and how often it may be asked for twice (F11).</summary>
public sealed class StragglerTests
{
    [Fact]
    public void F11_Patience_is_three_times_the_usual_and_never_less_than_the_floor()
    {
        var policy = new StragglerPolicy(new NntpOptions());
        Assert.Equal(TimeSpan.FromSeconds(1), policy.Patience(TimeSpan.Zero));
        Assert.Equal(TimeSpan.FromSeconds(1), policy.Patience(TimeSpan.FromMilliseconds(333)));
        Assert.Equal(TimeSpan.FromMilliseconds(1002), policy.Patience(TimeSpan.FromMilliseconds(334)));
    }

    [Fact]
    public void F11_The_usual_time_is_that_of_nineteen_in_twenty_of_the_last()
    {
        var times = new FirstByteTimes();
        for (var i = 1; i <= 19; i++)
            times.Observe(TimeSpan.FromMilliseconds(i));
        Assert.Equal(TimeSpan.Zero, times.P95);
        times.Observe(TimeSpan.FromSeconds(50));
        Assert.Equal(TimeSpan.FromMilliseconds(19), times.P95);

        // Old times make room: of the last 64 all are 5 ms but three.
        for (var i = 0; i < 64; i++)
            times.Observe(TimeSpan.FromMilliseconds(i < 3 ? 900 : 5));
        Assert.Equal(TimeSpan.FromMilliseconds(5), times.P95);
    }

    [Theory]
    [InlineData(0, 4)]
    [InlineData(19, 4)]
    [InlineData(20, 5)]
    [InlineData(100, 9)]
    [InlineData(100_000, 16)]
    public void F11_Second_tries_are_held_to_one_in_twenty(int fetched, int hedges)
    {
        var budget = new HedgeBudget();
        for (var i = 0; i < fetched; i++)
            budget.Fetched();
        var granted = 0;
        while (budget.TrySpend())
            granted++;
        Assert.Equal(hedges, granted);
    }
}
