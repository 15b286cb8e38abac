using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Queue;
using Sluice.Server.Tests.WebDav.Tree;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Queue;

public sealed class StartHoldsTests
{
    [Fact]
    public async Task Item_is_held_for_three_seconds_and_then_wakes_the_worker()
    {
        var time = new ManualTimeProvider();
        var signal = new QueueSignal();
        using var holds = new StartHolds(time, signal);

        holds.Hold("a");
        time.Advance(TimeSpan.FromSeconds(3) - TimeSpan.FromTicks(1));
        Assert.True(holds.IsHeld("a"));
        Assert.False(holds.IsHeld("b"));
        time.Advance(TimeSpan.FromTicks(1));

        Assert.False(holds.IsHeld("a"));
        Assert.True(await signal.WaitAsync(TestContext.Current.CancellationToken));
        Assert.Equal(0, time.Waiting);
    }

    [Fact]
    public async Task Item_that_was_put_as_a_file_is_held()
    {
        await using TreeServer server = await TreeServer.StartAsync();

        Assert.Equal(201, (await server.PutAsync("/nzbs/tv/a.nzb", "<nzb/>")).Status);

        QueueItem item = await server.Services.GetRequiredService<QueueStore>()
            .StreamAsync(new QueueFilter(), 0, 0, TestContext.Current.CancellationToken).SingleAsync(TestContext.Current.CancellationToken);
        Assert.True(server.Services.GetRequiredService<StartHolds>().IsHeld(item.Id));
    }

    [Fact]
    public async Task Work_on_an_item_ends_when_another_file_takes_its_place()
    {
        await using TreeServer server = await TreeServer.StartAsync();
        await server.PutAsync("/nzbs/tv/a.nzb", "<nzb/>");
        QueueItem item = await server.Services.GetRequiredService<QueueStore>()
            .StreamAsync(new QueueFilter(), 0, 0, TestContext.Current.CancellationToken).SingleAsync(TestContext.Current.CancellationToken);
        using var work = new CancellationTokenSource();
        server.Services.GetRequiredService<QueueActivity>().Begin(item.Id, "Work", 0, work);

        Assert.Equal(204, (await server.PutAsync("/nzbs/tv/a.nzb", "<nzb/>")).Status);
        Assert.False(work.IsCancellationRequested);
        Assert.Equal(204, (await server.PutAsync("/nzbs/tv/a.nzb", "<nzb></nzb>")).Status);

        Assert.True(work.IsCancellationRequested);
    }
}
