using System.Text.Json;
using Sluice.Server.Database;
using Sluice.Server.Events;

namespace Sluice.Server.Queue;

/// <summary>
/// Items of the queue have come, gone or changed: their rows, the work on them, or what they wait for. An item that moves up because
/// another one has left does not count as changed.
/// </summary>
internal sealed record QueueItemsChanged(IReadOnlyList<string>? Changed, IReadOnlyList<string>? Removed) : RowsEvent(Changed, Removed)
{
    /// <inheritdoc/>
    public override string Type => "queue.changed";

    /// <summary>One item has changed.</summary>
    public static QueueItemsChanged Of(string id) => new([id], []);

    /// <summary>Any item may have changed.</summary>
    public static QueueItemsChanged All => new(null, []);

    /// <summary>The table of the queue, whose changes become such events.</summary>
    public static WatchedTable Watch(EventFeed feed) =>
        new("queue_item", ["id"], (changed, removed) => feed.Publish(new QueueItemsChanged(Limit(changed), Limit(removed))));
}

/// <summary>The queue as a whole is paused, or no longer.</summary>
/// <param name="IsPaused">Whether it is.</param>
internal sealed record QueuePauseChanged(bool IsPaused) : LiveEvent
{
    /// <inheritdoc/>
    public override string Type => "queue.pause";

    /// <inheritdoc/>
    protected override void WriteFields(Utf8JsonWriter json) => json.WriteBoolean("paused", IsPaused);
}
