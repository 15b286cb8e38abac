using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.Queue;

/// <summary>What a queue is sorted by.</summary>
internal enum QueueSortKey
{
    /// <summary>The name of the release, whatever its case.</summary>
    Name,

    /// <summary>The encoded size.</summary>
    Size,

    /// <summary>The age of the post; unknown ages are the oldest.</summary>
    Age,

    /// <summary>The share that is still to be done.</summary>
    Remaining,
}

/// <summary>Where an item is in the queue.</summary>
/// <param name="Index">Its place in the whole queue, 0-based.</param>
/// <param name="Priority">Its band.</param>
internal sealed record QueuePlace(int Index, QueuePriority Priority);

/// <summary>Changes the order of <c>queue_item</c>: bands by priority, and in each band by position, which no two items of it share.</summary>
internal sealed class QueueOrderStore(SluiceDatabase database)
{
    private const string Order = "priority DESC, position";

    /// <summary>Gives items a priority. An item that has another one goes to the end of its new band.</summary>
    /// <param name="ids">Which; each is moved in turn.</param>
    /// <param name="priority">The priority; null leaves everything as it is.</param>
    /// <param name="cancellationToken">Counts until the change begins.</param>
    /// <returns>The place of the last of them; null when it is unknown.</returns>
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
    /// Moves an item to the place of another one, and into its band. The items behind close up or make room. Items being worked on keep
    /// their places, and those at the front of the band stay there.
    /// </summary>
    /// <param name="id">The item.</param>
    /// <param name="target">Finds the id of the item whose place it takes; may be null.</param>
    /// <param name="running">Items being worked on.</param>
    /// <param name="cancellationToken">Counts until the change begins.</param>
    /// <returns>Where the item is then; null when one of the two is unknown, or both are the same.</returns>
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

    /// <summary>The id of the item at a place of the whole queue, as part of the caller's transaction, or null.</summary>
    public static string? FindAt(DbConnection connection, int index) =>
        connection.QueryFirstOrDefault<string>($"SELECT id FROM queue_item ORDER BY {Order} LIMIT 1 OFFSET @index", new { index });

    /// <summary>The id of the item that stands some places behind another one, or before it where they are negative; the first and the last at most.</summary>
    public static string? FindBeside(DbConnection connection, string id, int step) =>
        Find(connection, id) is { } item
            ? FindAt(connection, (int)Math.Clamp((long)IndexOf(connection, item) + step, 0, QueueStore.Count(connection) - 1))
            : null;

    /// <summary>Sorts the items of each band. Equal ones keep their order.</summary>
    /// <param name="key">What by.</param>
    /// <param name="descending">The greatest first.</param>
    /// <param name="running">Items being worked on, those first of which the least remains.</param>
    /// <param name="cancellationToken">Counts until the change begins.</param>
    public Task SortAsync(QueueSortKey key, bool descending, IReadOnlyCollection<string> running, CancellationToken cancellationToken)
    {
        var place = SqlDialect.PlaceIn("queue_item.id", "@running");
        var (value, reversed) = key switch
        {
            QueueSortKey.Name => ("lower(name)", false),
            QueueSortKey.Size => ("encoded_bytes", false),
            // The age grows as the date falls.
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

    /// <summary>The last of the items with which a band begins and which are being worked on; null when it begins with another one.</summary>
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
