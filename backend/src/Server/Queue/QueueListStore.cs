using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.Queue;

/// <summary>In which order items of the queue are listed for people.</summary>
internal enum QueueOrder
{
    /// <summary>That of the queue.</summary>
    Position,

    /// <summary>By name, as it is folded.</summary>
    Name,

    /// <summary>The largest first.</summary>
    Size,

    /// <summary>Those that were added first first.</summary>
    Age,
}

/// <summary>Which items of the queue are listed for people: null matches everything.</summary>
internal sealed record QueueQuery
{
    /// <summary>Folded words (<see cref="SearchText"/>), all of which have to be in the name.</summary>
    public IReadOnlyList<string> Words { get; init; } = [];

    /// <summary>A category, whatever its case.</summary>
    public string? Category { get; init; }

    /// <summary>A state.</summary>
    public ItemState? State { get; init; }

    /// <summary>The order.</summary>
    public QueueOrder Order { get; init; }
}

/// <summary>Reads the queue for people: sorted, searched and in pages that stay where they are while items come and go (ADM-4).</summary>
internal sealed class QueueListStore(SluiceDatabase database, QueueMoments moments)
{
    // Holds every column that orders and conditions name, but for those of states.
    private const string Index = "queue_item_listed";

    private const string Columns = $"{QueueStore.Columns}, {SqlDialect.RowNumber} AS Number, position AS Position";

    /// <summary>A page of the items that match, each with its place in the whole queue.</summary>
    /// <param name="query">Which, in which order.</param>
    /// <param name="after">Items behind this place; null from the first on.</param>
    /// <param name="limit">How many at most.</param>
    /// <param name="cancellationToken">Counts until the query begins.</param>
    public Task<RowPage<QueueItem>> ReadAsync(QueueQuery query, RowPlace? after, int limit, CancellationToken cancellationToken)
    {
        var moment = moments.Now;
        return database.ReadAsync(
            connection =>
            {
                var (rows, total) = Find(connection, query, moment, after, limit + 1);
                var page = rows.Take(limit).ToList();
                var list = SqlDialect.List(page.Select(row => row.Number).ToList());
                var items = Place(connection, connection.Query<QueueItem>(
                    $"SELECT {Columns} FROM queue_item WHERE {SqlDialect.In(SqlDialect.RowNumber, "@list")}", new { list }));
                return new RowPage<QueueItem>([.. page.Select(row => items[row.Number])], rows.Count > limit ? page[^1].Place : null, total);
            },
            cancellationToken);
    }

    /// <summary>The ids of all items that match, in order.</summary>
    public Task<IReadOnlyList<string>> FindIdsAsync(QueueQuery query, CancellationToken cancellationToken)
    {
        var moment = moments.Now;
        return database.ReadAsync(
            connection =>
            {
                var list = SqlDialect.List(Find(connection, query, moment, null, int.MaxValue).Rows.Select(row => row.Number).ToList());
                return (IReadOnlyList<string>)
                [
                    .. connection.Query<string>(
                        $"SELECT id FROM queue_item WHERE {SqlDialect.In(SqlDialect.RowNumber, "@list")} ORDER BY priority DESC, position", new { list }),
                ];
            },
            cancellationToken);
    }

    /// <summary>The items of some ids, each with its place in the whole queue; unknown ones are left out.</summary>
    public Task<IReadOnlyList<QueueItem>> FindAsync(IReadOnlyCollection<string> ids, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<QueueItem>)
            [
                .. Place(connection, connection.Query<QueueItem>(
                    $"SELECT {Columns} FROM queue_item WHERE {SqlDialect.In("id", "@list")}", new { list = SqlDialect.List(ids) })).Values,
            ],
            cancellationToken);

    /// <summary>Items of the whole queue.</summary>
    public Task<int> CountAsync(CancellationToken cancellationToken) => database.ReadAsync(QueueStore.Count, cancellationToken);

    private static (List<PlacedRow> Rows, long Total) Find(DbConnection connection, QueueQuery query, QueueMoment moment, RowPlace? after, int most)
    {
        var filter = new SqlFilter();
        foreach (var term in SqlDialect.ContainsWords("folded", query.Words.Count))
            filter.Add(term);
        var categories = filter.AddAnyCase("category", "@categories", query.Category is null ? null : [query.Category]);
        if (query.State is not null)
            filter.Add($"{QueueMoment.StateSql} = @state");
        var all = filter.Where;
        var (rank, text, row, order, behind) = Sorting(query.Order);
        if (after is not null)
            filter.Add(behind);

        string Word(int index) => index < query.Words.Count ? query.Words[index] : "";
        var values = new
        {
            word0 = Word(0),
            word1 = Word(1),
            word2 = Word(2),
            word3 = Word(3),
            word4 = Word(4),
            word5 = Word(5),
            word6 = Word(6),
            word7 = Word(7),
            categories,
            state = (int)(query.State ?? default),
            running = query.State is null ? "[]" : SqlDialect.List([.. moment.Running.Keys]),
            retrying = query.State is null ? "[]" : SqlDialect.List(moment.Retrying),
            isPaused = moment.IsPaused,
            hasProviders = moment.HasProviders,
            rank = after?.Rank ?? 0,
            text = after?.Text ?? "",
            row = after?.Row ?? 0,
            most,
        };
        // In its own order the queue has an index.
        var from = query is { Order: QueueOrder.Position, Words.Count: 0 } ? "queue_item" : $"queue_item {SqlDialect.By(Index)}";
        var rows = connection.Query<PlacedRow>(
            $"""
            SELECT {SqlDialect.RowNumber} AS Number, {rank} AS Rank, {text} AS Text, {row} AS "Row" FROM {from} {filter.Where}
            ORDER BY {order} LIMIT @most
            """,
            values);
        var total = connection.ExecuteScalar<long>($"SELECT count(*) FROM queue_item {all}", values);
        return ([.. rows], total);
    }

    /// <summary>What a list is sorted by, and what stands behind a place in it.</summary>
    private static (string Rank, string Text, string Row, string Order, string Behind) Sorting(QueueOrder order)
    {
        const string Number = SqlDialect.RowNumber;
        return order switch
        {
            QueueOrder.Position => ("priority", "''", "position", "priority DESC, position", "(priority < @rank OR (priority = @rank AND position > @row))"),
            QueueOrder.Size => ("encoded_bytes", "''", Number, $"encoded_bytes DESC, {Number} DESC", $"(encoded_bytes, {Number}) < (@rank, @row)"),
            QueueOrder.Age => ("added_at", "''", Number, $"added_at, {Number}", $"(added_at, {Number}) > (@rank, @row)"),
            _ => ("0", "folded", Number, $"folded, {Number}", $"(folded, {Number}) > (@text, @row)"),
        };
    }

    /// <summary>Finds the places of items in the whole queue: what stands between two of them is counted once, by the index.</summary>
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
}
