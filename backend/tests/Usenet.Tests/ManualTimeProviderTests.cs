using Sluice.Testing;
using Xunit;

namespace Sluice.Usenet.Tests;

public sealed class ManualTimeProviderTests
{
    private readonly ManualTimeProvider _time = new();

    [Fact]
    public void Set_wall_clock_leaves_timestamps_and_timers_alone()
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
    public void Advance_runs_timers_in_order_including_newly_armed_ones()
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
    public void Disposed_timer_is_not_alive_and_cannot_be_rearmed()
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
    public void Timer_with_zero_due_time_fires_on_the_next_advance()
    {
        var ran = false;
        using var timer = _time.CreateTimer(_ => ran = true, null, TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        Assert.False(ran);
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.True(ran);
    }
}
