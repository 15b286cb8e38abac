using System.Text.Json;
using Sluice.Server.Database;
using Sluice.Server.Events;

namespace Sluice.Server.Queue;

/// <summary>
/// Items of the queue were added, removed or changed: their rows, their imports or their waits. An item that only moves up does not count.
/// </summary>
internal sealed record QueueItemsChanged(IReadOnlyList<string>? Changed, IReadOnlyList<string>? Removed) : RowsEvent(Changed, Removed)
{
    public override string Type => "queue.changed";

    public static QueueItemsChanged Of(string id) => new([id], []);

    public static QueueItemsChanged All => new(null, []);

    /// <summary>Turns changes of the table into events.</summary>
    public static WatchedTable Watch(EventFeed feed) =>
        new("queue_item", ["id"], (changed, removed) => feed.Publish(new QueueItemsChanged(Limit(changed), Limit(removed))));
}

/// <summary>The whole queue was paused or resumed.</summary>
internal sealed record QueuePauseChanged(bool IsPaused) : LiveEvent
{
    public override string Type => "queue.pause";

    protected override void WriteFields(Utf8JsonWriter json) => json.WriteBoolean("paused", IsPaused);
}
