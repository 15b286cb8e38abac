using System.Text.Json;
using Sluice.Server.Database;
using Sluice.Server.Events;

namespace Sluice.Server.Queue;

/// <summary>Queue items were added or removed, or their row, import or delay changed. Merely moving up is not reported.</summary>
internal sealed record QueueItemsChanged(IReadOnlyList<string>? Changed, IReadOnlyList<string>? Removed) : RowsEvent(Changed, Removed)
{
    public override string Type => "queue.changed";

    public static QueueItemsChanged Of(string id) => new([id], []);

    public static QueueItemsChanged All => new(null, []);

    /// <summary>Publishes an event for each change of the table.</summary>
    public static WatchedTable Watch(EventFeed feed) =>
        new("queue_item", ["id"], (changed, removed) => feed.Publish(new QueueItemsChanged(Limit(changed), Limit(removed))));
}

/// <summary>The whole queue was paused or resumed.</summary>
internal sealed record QueuePauseChanged(bool IsPaused) : LiveEvent
{
    public override string Type => "queue.pause";

    protected override void WriteFields(Utf8JsonWriter json) => json.WriteBoolean("paused", IsPaused);
}
