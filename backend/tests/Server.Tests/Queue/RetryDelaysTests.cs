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
}
