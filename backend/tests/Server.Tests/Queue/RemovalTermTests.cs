using Sluice.Server.Queue;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>When removed files may be deleted: both clocks have passed the term, in many rounds (HLT-17, HLT-62).</summary>
public sealed class RemovalTermTests
{
    private const long Hour = 3_600_000;
    private const long Term = 7 * 24 * Hour;
    private const long Year = 365 * 24 * Hour;

    [Theory]
    [InlineData(0, 0, false)]
    [InlineData(Term, Term - 1, false)]
    [InlineData(Term - 1, Term, false)]
    [InlineData(Term, Term, true)]
    [InlineData(2 * Year, Hour, false)]
    [InlineData(-2 * Year, Term, false)]
    public void Removal_term_ends_only_once_both_clocks_reach_it(long wall, long kept, bool expected) =>
        Assert.Equal(expected, RemovalTerm.IsOver(new RemovalAge(5 * Year, kept), (5 * Year) + wall));

    [Theory]
    [InlineData(Hour, Hour)]
    [InlineData(2 * Year, 2 * Hour)]
    [InlineData(-Hour, 0)]
    public void One_round_adds_at_most_two_hours_to_the_age(long ran, long expected) =>
        Assert.Equal(expected, RemovalTerm.Age(new RemovalAge(0, 0), Year, TimeSpan.FromMilliseconds(ran)).KeptMs);

    [Fact]
    public void Time_before_the_removal_does_not_count() =>
        Assert.Equal(5, RemovalTerm.Age(new RemovalAge(100, 0), 105, TimeSpan.FromHours(1)).KeptMs);

    [Fact]
    public void Clock_set_back_restarts_the_removal_term() =>
        Assert.Equal(new RemovalAge(Year, 0), RemovalTerm.Age(new RemovalAge(2 * Year, Term - 1), Year, TimeSpan.FromHours(1)));

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Clock_jumps_delete_nothing_before_seven_days_of_uptime(int seed)
    {
        var random = new Random(seed);
        for (var removal = 0; removal < 1000; removal++)
        {
            var (age, wall, run, rounds) = (new RemovalAge(5 * Year, 0), 5 * Year, 0L, 0);
            while (!RemovalTerm.IsOver(age, wall) && rounds < 10_000)
            {
                var ran = random.NextInt64(Hour);
                (run, wall, rounds) = (run + ran, wall + ran + (random.Next(20) == 0 ? random.NextInt64(-Year, Year) : 0), rounds + 1);
                age = RemovalTerm.Age(age, wall, TimeSpan.FromMilliseconds(ran));
            }

            Assert.True(rounds == 10_000 || (run >= Term && rounds > 24), $"deleted after {run} ms in {rounds} rounds");
        }
    }
}
