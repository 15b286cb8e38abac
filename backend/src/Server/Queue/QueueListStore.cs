using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.Queue;

/// <summary>Sort orders of the web UI.</summary>
internal enum QueueOrder
{
    Position,
    Name,

    /// <summary>Largest first.</summary>
    Size,

    /// <summary>Oldest first.</summary>
    Age,
}

/// <summary>Filter of the web UI. Null matches everything.</summary>
internal sealed record QueueQuery
{
    /// <summary>Folded words (<see cref="SearchText"/>) that the name must contain.</summary>
    public IReadOnlyList<string> Words { get; init; } = [];

    /// <summary>Category, ignoring case.</summary>
    public string? Category { get; init; }

    public ItemState? State { get; init; }
    public QueueOrder Order { get; init; }
}

/// <summary>Reads sorted, searched pages of the queue for the web UI. Pages stay stable while items come and go (ADM-4).</summary>
internal sealed class QueueListStore(SluiceDatabase database, QueueMoments moments)
{
    // Covers the columns of all sort orders and filters except the state.
    private const string Index = "queue_item_listed";

    private const string Columns = $"{QueueStore.Columns}, {SqlDialect.RowNumber} AS Number, position AS Position";

    /// <summary>Reads a page of matching items with their positions in the whole queue.</summary>
    /// <param name="after">Last item of the previous page; null for the first page.</param>
    public Task<RowPage<QueueItem>> ReadAsync(QueueQuery query, RowPlace? after, int limit, CancellationToken cancellationToken)
    {
        var moment = moments.Now;
        return database.ReadAsync(
            connection =>
            {
                var page = Find(connection, query, moment, after, limit);
                var list = SqlDialect.List(page.Items.Select(row => row.Number).ToList());
                var items = Place(connection, connection.Query<QueueItem>(
                    $"SELECT {Columns} FROM queue_item WHERE {SqlDialect.In(SqlDialect.RowNumber, "@list")}", new { list }));
                return page.Of(row => items[row.Number]);
            },
            cancellationToken);
    }

    /// <summary>Returns the ids of all matching items in queue order.</summary>
    public Task<IReadOnlyList<string>> FindIdsAsync(QueueQuery query, CancellationToken cancellationToken)
    {
        var moment = moments.Now;
        return database.ReadAsync(
            connection =>
            {
                var list = SqlDialect.List(Find(connection, query, moment, null, int.MaxValue).Items.Select(row => row.Number).ToList());
                return (IReadOnlyList<string>)
                [
                    .. connection.Query<string>(
                        $"SELECT id FROM queue_item WHERE {SqlDialect.In(SqlDialect.RowNumber, "@list")} ORDER BY priority DESC, position", new { list }),
                ];
            },
            cancellationToken);
    }

    /// <summary>Returns items with their positions in the whole queue. Unknown ids are skipped.</summary>
    public Task<IReadOnlyList<QueueItem>> FindAsync(IReadOnlyCollection<string> ids, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<QueueItem>)
            [
                .. Place(connection, connection.Query<QueueItem>(
                    $"SELECT {Columns} FROM queue_item WHERE {SqlDialect.In("id", "@list")}", new { list = SqlDialect.List(ids) })).Values,
            ],
            cancellationToken);

    /// <summary>Counts the items of each state. States without items may be absent.</summary>
    public Task<Dictionary<ItemState, int>> CountStatesAsync(CancellationToken cancellationToken)
    {
        var moment = moments.Now;
        return database.ReadAsync(
            connection => connection.Query<StateRow>(
                $"SELECT {QueueMoment.StateSql} AS State, count(*) AS Items FROM queue_item GROUP BY 1",
                new
                {
                    running = SqlDialect.List([.. moment.Running.Keys]),
                    retrying = SqlDialect.List(moment.Retrying),
                    isPaused = moment.IsPaused,
                    hasProviders = moment.HasProviders,
                }).ToDictionary(static row => (ItemState)row.State, static row => (int)row.Items),
            cancellationToken);
    }

    public Task<int> CountAsync(CancellationToken cancellationToken) => database.ReadAsync(QueueStore.Count, cancellationToken);

    private static RowPage<PlacedRow> Find(DbConnection connection, QueueQuery query, QueueMoment moment, RowPlace? after, int limit)
    {
        var list = new ListQuery("folded", query.Words);
        if (query.Category is { } category)
            list.Add(SqlDialect.IsInAnyCase("category", "@category", category), ("@category", category));
        if (query.State == ItemState.Running)
            list.Add(SqlDialect.In("id", "@running"), ("@running", SqlDialect.List([.. moment.Running.Keys])));
        else if (query.State is { } state)
        {
            list.Add(
                $"{QueueMoment.StateSql} = @state",
                ("@state", (int)state),
                ("@running", SqlDialect.List([.. moment.Running.Keys])),
                ("@retrying", SqlDialect.List(moment.Retrying)),
                ("@isPaused", moment.IsPaused),
                ("@hasProviders", moment.HasProviders));
        }

        // Queue order has its own index. State filters must read whole rows, unless search words leave only a few.
        var readsRows = query.Words.Count == 0 && (query.Order == QueueOrder.Position || query.State is not null);
        return list.Read(connection, readsRows ? "queue_item" : $"queue_item {SqlDialect.IndexedBy(Index)}", OrderOf(query.Order), after, limit);
    }

    private static RowOrder OrderOf(QueueOrder order) => order switch
    {
        QueueOrder.Position => new("priority", "''", "position", "priority DESC, position", "(priority < @rank OR (priority = @rank AND position > @row))"),
        QueueOrder.Size => RowOrder.ByRank("encoded_bytes", SqlDialect.RowNumber, descends: true),
        QueueOrder.Age => RowOrder.ByRank("added_at", SqlDialect.RowNumber),
        _ => RowOrder.ByText("folded", SqlDialect.RowNumber),
    };

    /// <summary>Sets the position of each item. Uses an index, and counts only the items between one result and the next.</summary>
    private static Dictionary<long, QueueItem> Place(DbConnection connection, IEnumerable<QueueItem> items)
    {
        var placed = new Dictionary<long, QueueItem>();
        var (index, from, band) = (0, long.MinValue, (QueuePriority?)null);
        foreach (var item in items.OrderByDescending(item => item.Priority).ThenBy(item => item.Position))
        {
            if (item.Priority != band)
            {
                index = connection.ExecuteScalar<int>("SELECT count(*) FROM queue_item WHERE priority > @Priority", new { item.Priority });
                from = long.MinValue;
            }

            index += connection.ExecuteScalar<int>(
                "SELECT count(*) FROM queue_item WHERE priority = @Priority AND position >= @from AND position < @Position", new { item.Priority, from, item.Position });
            (from, band) = (item.Position, item.Priority);
            placed[item.Number] = item with { Index = index };
        }

        return placed;
    }

    internal sealed record StateRow(long State, long Items);
}
