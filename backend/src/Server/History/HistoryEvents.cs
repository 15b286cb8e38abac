using Sluice.Server.Database;
using Sluice.Server.Events;

namespace Sluice.Server.History;

/// <summary>Items of the history have come, gone or changed. One that is archived counts as changed, and is in no list afterwards.</summary>
internal sealed record HistoryItemsChanged(IReadOnlyList<string>? Changed, IReadOnlyList<string>? Removed) : RowsEvent(Changed, Removed)
{
    /// <inheritdoc/>
    public override string Type => "history.changed";

    /// <summary>The table of the history, whose changes become such events.</summary>
    public static WatchedTable Watch(EventFeed feed) =>
        new("history_item", ["id"], (changed, removed) => feed.Publish(new HistoryItemsChanged(Limit(changed), Limit(removed))));
}
