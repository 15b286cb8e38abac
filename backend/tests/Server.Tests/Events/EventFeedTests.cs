using System.Text.Json;
using Sluice.Server.Events;
using Xunit;

namespace Sluice.Server.Tests.Events;

public sealed class EventFeedTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Listener_receives_events_until_it_is_disposed()
    {
        var feed = new EventFeed();
        feed.Publish(new Counted(1));
        using var first = feed.Subscribe();
        feed.Publish(new Counted(2));
        using var second = feed.Subscribe();
        feed.Publish(new Counted(3));
        first.Dispose();
        feed.Publish(new Counted(4));
        second.Dispose();

        Assert.Equal([2, 3], await NumbersAsync(first));
        Assert.Equal([3, 4], await NumbersAsync(second));
    }

    private static async Task<List<int>> NumbersAsync(WatchedEvents subscription) =>
        await subscription.Events.ReadAllAsync(Token).Cast<Counted>().Select(happened => happened.Number).ToListAsync(Token);

    private sealed record Counted(int Number) : LiveEvent
    {
        public override string Type => "counted";

        protected override void WriteFields(Utf8JsonWriter json) => json.WriteNumber("number", Number);
    }
}
