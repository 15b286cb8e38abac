using System.Text.Json;
using Sluice.Server.Events;
using Xunit;

namespace Sluice.Server.Tests.Events;

public sealed class EventFeedTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Subscriber_gets_what_happens_while_it_is_one()
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

    [Fact]
    public async Task Subscriber_that_falls_behind_loses_the_oldest()
    {
        var feed = new EventFeed();
        using var slow = feed.Subscribe();
        for (var i = 0; i < EventFeed.MaxWaiting + 3; i++)
            feed.Publish(new Counted(i));
        slow.Dispose();

        Assert.Equal(Enumerable.Range(3, EventFeed.MaxWaiting), await NumbersAsync(slow));
    }

    private static async Task<List<int>> NumbersAsync(EventFeed.Subscription subscription) =>
        await subscription.Events.ReadAllAsync(Token).Cast<Counted>().Select(happened => happened.Number).ToListAsync(Token);

    private sealed record Counted(int Number) : LiveEvent
    {
        public override string Type => "counted";

        protected override void WriteFields(Utf8JsonWriter json) => json.WriteNumber("number", Number);
    }
}
