using Sluice.Server.Queue;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Queue;

public sealed class RetryDelaysTests
{
    [Fact]
    public async Task Wait_doubles_up_to_ten_minutes_and_wakes_the_worker_each_time()
    {
        var time = new ManualTimeProvider();
        var signal = new QueueSignal();
        using var delays = new RetryDelays(time, signal);

        foreach (var seconds in new[] { 30, 60, 120, 240, 480, 600, 600 })
        {
            Assert.Equal(TimeSpan.FromSeconds(seconds), delays.Start("a"));
            time.Advance(TimeSpan.FromSeconds(seconds - 1));
            Assert.True(delays.IsWaiting("a"));
            time.Advance(TimeSpan.FromSeconds(1));
            Assert.False(delays.IsWaiting("a"));
            Assert.True(await signal.WaitAsync(TestContext.Current.CancellationToken));
        }

        delays.Forget("a");
        Assert.Equal(TimeSpan.FromSeconds(30), delays.Start("a"));
        Assert.Equal(1, time.Waiting);
    }

    [Fact]
    public async Task Wait_is_over_with_its_timer_wherever_the_clock_stands()
    {
        var time = new ClockSetBack();
        var signal = new QueueSignal();
        using var delays = new RetryDelays(time, signal);
        delays.Start("a");

        time.FireTimer();

        Assert.True(await signal.WaitAsync(TestContext.Current.CancellationToken));
        Assert.False(delays.IsWaiting("a"));
    }

    [Fact]
    public async Task Waits_that_are_ended_together_wake_the_worker_and_count_from_the_first_again()
    {
        var time = new ManualTimeProvider();
        var signal = new QueueSignal();
        using var delays = new RetryDelays(time, signal);
        foreach (var id in new[] { "a", "a", "b" })
            delays.Start(id);

        delays.EndAll();

        Assert.True(await signal.WaitAsync(TestContext.Current.CancellationToken));
        Assert.False(delays.IsWaiting("a") || delays.IsWaiting("b"));
        Assert.Equal(0, time.Waiting);
        Assert.Equal(TimeSpan.FromSeconds(30), delays.Start("a"));
    }

    // Its one timer comes due while the time of day has not moved.
    private sealed class ClockSetBack : TimeProvider
    {
        private readonly ManualTimeProvider _timers = new();

        public void FireTimer() => _timers.Advance(TimeSpan.FromSeconds(30));

        public override DateTimeOffset GetUtcNow() => DateTimeOffset.UnixEpoch;

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
            _timers.CreateTimer(callback, state, dueTime, period);
    }
}
