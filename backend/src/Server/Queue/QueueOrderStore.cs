using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.Queue;

internal enum QueueSortKey
{
    /// <summary>Name, ignoring case.</summary>
    Name,

    Size,

    /// <summary>Age of the post. Items of unknown age count as oldest.</summary>
    Age,

    /// <summary>Remaining fraction of the import.</summary>
    Remaining,
}

/// <param name="Index">0-based position in the whole queue.</param>
internal sealed record QueuePlace(int Index, QueuePriority Priority);

/// <summary>Changes the order of <c>queue_item</c>: priority, then position, which is unique within a priority.</summary>
internal sealed class QueueOrderStore(SluiceDatabase database)
{
    private const string Order = "priority DESC, position";

    /// <summary>Sets the priority of items. An item whose priority changes goes to the end of its new priority.</summary>
    /// <param name="ids">Ids of the items. They end up in this order.</param>
    /// <param name="priority">New priority; null changes nothing.</param>
    /// <returns>The position of the last item; null if it is unknown.</returns>
    public Task<QueuePlace?> SetPriorityAsync(IReadOnlyList<string> ids, QueuePriority? priority, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection =>
            {
                if (priority is { } band)
                {
                    foreach (var id in ids)
                    {
                        connection.Execute(
                            """
                            UPDATE queue_item SET priority = @band, position = (SELECT max(position) + 1 FROM queue_item)
                            WHERE id = @id AND priority <> @band
                            """,
                            new { id, band });
                    }
                }

                return ids.Count > 0 && Find(connection, ids[^1]) is { } last ? new QueuePlace(IndexOf(connection, last), last.Priority) : null;
            },
            cancellationToken);

    /// <summary>
    /// Moves an item to the position and priority of another item and shifts the items behind it. Running items keep their positions, and those at the front of
    /// a priority stay at the front.
    /// </summary>
    /// <param name="target">Finds the id of the other item, or null.</param>
    /// <returns>The new position; null if either item is unknown or both are the same.</returns>
    public Task<QueuePlace?> MoveAsync(
        string id, Func<DbConnection, string?> target, IReadOnlyCollection<string> running, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection =>
            {
                if (Find(connection, id) is not { } item || target(connection) is not { } other || other == id || Find(connection, other) is not { } anchor)
                    return null;
                if (!running.Contains(id))
                    Move(connection, item, anchor, running);
                var moved = Find(connection, id)!;
                return new QueuePlace(IndexOf(connection, moved), moved.Priority);
            },
            cancellationToken);

    /// <summary>Returns the id of the item at a position in the whole queue, or null.</summary>
    public static string? FindAt(DbConnection connection, int index) =>
        connection.QueryFirstOrDefault<string>($"SELECT id FROM queue_item ORDER BY {Order} LIMIT 1 OFFSET @index", new { index });

    /// <summary>Returns the id of the item that many positions after another; negative for before. Stops at the first and last item.</summary>
    public static string? FindBeside(DbConnection connection, string id, int step) =>
        Find(connection, id) is { } item
            ? FindAt(connection, (int)Math.Clamp((long)IndexOf(connection, item) + step, 0, QueueStore.Count(connection) - 1))
            : null;

    /// <summary>Sorts the items within each priority. Equal items keep their order.</summary>
    /// <param name="running">Ids of running items, least remaining work first.</param>
    public Task SortAsync(QueueSortKey key, bool descending, IReadOnlyCollection<string> running, CancellationToken cancellationToken)
    {
        var place = SqlDialect.PlaceIn("queue_item.id", "@running");
        var (value, reversed) = key switch
        {
            QueueSortKey.Name => ("lower(name)", false),
            QueueSortKey.Size => ("encoded_bytes", false),
            // An older post has an earlier date, so the order is reversed.
            QueueSortKey.Age => ("coalesce(posted_at, 0)", true),
            _ => ($"coalesce({place}, @count)", false),
        };
        var direction = descending != reversed ? "DESC" : "ASC";
        return database.WriteAsync(
            connection => connection.Execute(
                $"""
                UPDATE queue_item SET position = sorted.place
                FROM (SELECT id AS item, row_number() OVER (ORDER BY {value} {direction}, {Order}) AS place FROM queue_item) sorted
                WHERE id = sorted.item AND position <> sorted.place
                """,
                new { running = SqlDialect.List(running), count = running.Count }),
            cancellationToken);
    }

    private static void Move(DbConnection connection, OrderRow item, OrderRow anchor, IReadOnlyCollection<string> running)
    {
        var (band, from) = (anchor.Priority, item.Position);
        var isBehind = item.Priority == band ? from < anchor.Position : item.Priority > band;
        var front = Front(connection, band, running);
        if (front is { } last && last.Position >= anchor.Position)
            (anchor, isBehind) = (last, true);

        var start = isBehind ? anchor.Position + 1 : anchor.Position;
        if (item.Priority != band)
        {
            connection.Execute(
                "UPDATE queue_item SET position = position + 1 WHERE priority = @band AND position >= @start", new { band, start });
        }
        else if (from < start)
        {
            connection.Execute(
                "UPDATE queue_item SET position = position - 1 WHERE priority = @band AND position > @from AND position < @start",
                new { band, from, start });
            start--;
        }
        else
        {
            connection.Execute(
                "UPDATE queue_item SET position = position + 1 WHERE priority = @band AND position >= @start AND position < @from",
                new { band, from, start });
        }

        connection.Execute("UPDATE queue_item SET priority = @band, position = @start WHERE id = @Id", new { item.Id, band, start });
    }

    /// <summary>Returns the last of the running items at the front of a priority, or null if another item is first.</summary>
    private static OrderRow? Front(DbConnection connection, QueuePriority band, IReadOnlyCollection<string> running) =>
        connection
            .Query<OrderRow>(
                "SELECT id AS Id, priority AS Priority, position AS Position FROM queue_item WHERE priority = @band ORDER BY position LIMIT @count",
                new { band, count = running.Count })
            .TakeWhile(row => running.Contains(row.Id))
            .LastOrDefault();

    private static OrderRow? Find(DbConnection connection, string id) =>
        connection.QuerySingleOrDefault<OrderRow>(
            "SELECT id AS Id, priority AS Priority, position AS Position FROM queue_item WHERE id = @id", new { id });

    private static int IndexOf(DbConnection connection, OrderRow item) =>
        connection.ExecuteScalar<int>(
            """
            SELECT (SELECT count(*) FROM queue_item WHERE priority > @Priority)
              + (SELECT count(*) FROM queue_item WHERE priority = @Priority AND position < @Position)
            """,
            item);

    internal sealed record OrderRow(string Id, QueuePriority Priority, long Position);
}
