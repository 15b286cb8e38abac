using Sluice.Testing;
using Xunit;

namespace Sluice.Usenet.Tests;

public sealed class ManualTimeProviderTests
{
    private readonly ManualTimeProvider _time = new();

    [Fact]
    public void Wall_clock_set_apart_moves_no_timestamp_and_no_timer()
    {
        var before = _time.GetTimestamp();
        var utc = _time.GetUtcNow();
        var ran = false;
        using var timer = _time.CreateTimer(_ => ran = true, null, TimeSpan.FromSeconds(10), Timeout.InfiniteTimeSpan);

        _time.SetWallClock(TimeSpan.FromDays(700));
        Assert.Equal(TimeSpan.FromDays(700), _time.GetUtcNow() - utc);
        Assert.Equal(before, _time.GetTimestamp());
        Assert.False(ran);

        _time.SetWallClock(TimeSpan.FromDays(-1400));
        _time.Advance(TimeSpan.FromSeconds(9));
        Assert.False(ran);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.True(ran);
        Assert.Equal(TimeSpan.FromSeconds(10), _time.GetElapsedTime(before));
        Assert.Equal(TimeSpan.FromSeconds(10) - TimeSpan.FromDays(700), _time.GetUtcNow() - utc);
    }

    [Fact]
    public void Timers_run_at_their_own_time_and_what_they_arm_runs_too()
    {
        var start = _time.GetTimestamp();
        var ran = new List<double>();
        ITimer? second = null;
        using var first = _time.CreateTimer(
            _ =>
            {
                ran.Add(_time.GetElapsedTime(start).TotalSeconds);
                second ??= _time.CreateTimer(
                    _ => ran.Add(_time.GetElapsedTime(start).TotalSeconds), null, TimeSpan.FromSeconds(3), Timeout.InfiniteTimeSpan);
            },
            null,
            TimeSpan.FromSeconds(2),
            TimeSpan.FromSeconds(4));

        _time.Advance(TimeSpan.FromSeconds(11));
        Assert.Equal([2, 5, 6, 10], ran);
        second?.Dispose();
    }

    [Fact]
    public void Waiting_counts_armed_timers_only()
    {
        using var once = _time.CreateTimer(_ => { }, null, TimeSpan.FromSeconds(1), Timeout.InfiniteTimeSpan);
        using var never = _time.CreateTimer(_ => { }, null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        Assert.Equal(1, _time.Waiting);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(0, _time.Waiting);
        never.Change(TimeSpan.FromSeconds(1), Timeout.InfiniteTimeSpan);
        Assert.Equal(1, _time.Waiting);
        never.Dispose();
        Assert.Equal(0, _time.Waiting);
    }

    [Fact]
    public void Timer_is_alive_until_it_is_disposed_of_and_never_again()
    {
        var timer = _time.CreateTimer(_ => { }, null, TimeSpan.FromSeconds(1), Timeout.InfiniteTimeSpan);
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal((0, 1), (_time.Waiting, _time.Alive));
        timer.Dispose();
        timer.Dispose();
        Assert.False(timer.Change(TimeSpan.FromSeconds(1), Timeout.InfiniteTimeSpan));
        Assert.Equal((0, 0), (_time.Waiting, _time.Alive));
    }

    [Fact]
    public void Timer_set_to_run_at_once_waits_for_the_clock_to_move()
    {
        var ran = false;
        using var timer = _time.CreateTimer(_ => ran = true, null, TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        Assert.False(ran);
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.True(ran);
    }
}
