using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Events;
using Sluice.Server.Queue;
using Sluice.Server.Tests.WebDav.Tree;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Queue;

public sealed class QueueScheduleTests
{
    [Fact]
    public async Task Retry_wait_doubles_up_to_10_minutes_and_wakes_the_worker()
    {
        var time = new ManualTimeProvider();
        using var schedule = new QueueSchedule(new EventFeed(), time);

        foreach (var seconds in new[] { 30, 60, 120, 240, 480, 600, 600 })
        {
            Assert.Equal(TimeSpan.FromSeconds(seconds), schedule.Retry("a"));
            time.Advance(TimeSpan.FromSeconds(seconds - 1));
            Assert.True(schedule.IsRetrying("a"));
            time.Advance(TimeSpan.FromSeconds(1));
            Assert.False(schedule.IsRetrying("a"));
            Assert.True(await schedule.WaitAsync(TestContext.Current.CancellationToken));
        }

        schedule.Forget("a");
        Assert.Equal(TimeSpan.FromSeconds(30), schedule.Retry("a"));
        Assert.Equal(1, time.Waiting);
    }

    [Fact]
    public async Task Timer_ends_the_wait_even_if_the_clock_was_set_back()
    {
        var time = new ClockSetBack();
        using var schedule = new QueueSchedule(new EventFeed(), time);
        schedule.Retry("a");

        time.FireTimer();

        Assert.True(await schedule.WaitAsync(TestContext.Current.CancellationToken));
        Assert.False(schedule.IsRetrying("a"));
    }

    [Fact]
    public async Task RetryAll_wakes_the_worker_and_resets_the_waits()
    {
        var time = new ManualTimeProvider();
        using var schedule = new QueueSchedule(new EventFeed(), time);
        foreach (var id in new[] { "a", "a", "b" })
            schedule.Retry(id);

        schedule.RetryAll();

        Assert.True(await schedule.WaitAsync(TestContext.Current.CancellationToken));
        Assert.False(schedule.IsRetrying("a") || schedule.IsRetrying("b"));
        Assert.Equal(0, time.Waiting);
        Assert.Equal(TimeSpan.FromSeconds(30), schedule.Retry("a"));
    }

    [Fact]
    public async Task Worker_is_woken_three_seconds_after_an_item_is_held()
    {
        var time = new ManualTimeProvider();
        using var schedule = new QueueSchedule(new EventFeed(), time);

        schedule.Hold("a");
        time.Advance(TimeSpan.FromSeconds(3) - TimeSpan.FromTicks(1));
        Assert.True(schedule.IsWaiting("a"));
        Assert.False(schedule.IsWaiting("b"));
        time.Advance(TimeSpan.FromTicks(1));

        Assert.False(schedule.IsWaiting("a"));
        Assert.True(await schedule.WaitAsync(TestContext.Current.CancellationToken));
        Assert.Equal(0, time.Waiting);
    }

    [Fact]
    public async Task NZB_uploaded_by_PUT_is_held_before_its_import()
    {
        await using var server = await TreeServer.StartAsync();

        Assert.Equal(201, (await server.PutAsync("/nzbs/tv/a.nzb", "<nzb/>")).Status);

        var item = await server.Services.GetRequiredService<QueueStore>()
            .StreamAsync(new QueueFilter(), 0, 0, TestContext.Current.CancellationToken).SingleAsync(TestContext.Current.CancellationToken);
        Assert.True(server.Services.GetRequiredService<QueueSchedule>().IsWaiting(item.Id));
    }

    [Fact]
    public async Task Replacing_the_NZB_file_cancels_the_running_import()
    {
        await using var server = await TreeServer.StartAsync();
        await server.PutAsync("/nzbs/tv/a.nzb", "<nzb/>");
        var item = await server.Services.GetRequiredService<QueueStore>()
            .StreamAsync(new QueueFilter(), 0, 0, TestContext.Current.CancellationToken).SingleAsync(TestContext.Current.CancellationToken);
        using var work = new CancellationTokenSource();
        server.Services.GetRequiredService<QueueActivity>().Begin(item.Id, "Work", 0, work);

        Assert.Equal(204, (await server.PutAsync("/nzbs/tv/a.nzb", "<nzb/>")).Status);
        Assert.False(work.IsCancellationRequested);
        Assert.Equal(204, (await server.PutAsync("/nzbs/tv/a.nzb", "<nzb></nzb>")).Status);

        Assert.True(work.IsCancellationRequested);
    }

    [Fact]
    public void Hold_is_not_a_retry_and_does_not_lengthen_the_first_wait()
    {
        var time = new ManualTimeProvider();
        using var schedule = new QueueSchedule(new EventFeed(), time);

        schedule.Hold("a");
        Assert.False(schedule.IsRetrying("a"));
        schedule.RetryAll();
        Assert.True(schedule.IsWaiting("a"));

        Assert.Equal(TimeSpan.FromSeconds(30), schedule.Retry("a"));
        time.Advance(TimeSpan.FromSeconds(4));
        Assert.True(schedule.IsRetrying("a"));
        schedule.Forget("a");
        Assert.False(schedule.IsWaiting("a"));
        Assert.Equal(0, time.Waiting);
    }

    // A timer that is due although the time of day has not moved.
    private sealed class ClockSetBack : TimeProvider
    {
        private readonly ManualTimeProvider _timers = new();

        public void FireTimer() => _timers.Advance(TimeSpan.FromSeconds(30));

        public override DateTimeOffset GetUtcNow() => DateTimeOffset.UnixEpoch;

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
            _timers.CreateTimer(callback, state, dueTime, period);
    }
}
