using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.History;

/// <summary>In which order items of the history are listed for people.</summary>
internal enum HistoryOrder
{
    /// <summary>Those that ended last first.</summary>
    Newest,

    /// <summary>Those that ended last behind all others.</summary>
    Oldest,

    /// <summary>By name, as it is folded.</summary>
    Name,

    /// <summary>The largest first.</summary>
    Size,
}

/// <summary>Which items of the history are listed for people, the archived ones among them: null matches everything.</summary>
internal sealed record HistoryQuery
{
    /// <summary>Folded words (<see cref="SearchText"/>), all of which have to be in the name.</summary>
    public IReadOnlyList<string> Words { get; init; } = [];

    /// <summary>A category, whatever its case.</summary>
    public string? Category { get; init; }

    /// <summary>True: completed items, false: failed ones.</summary>
    public bool? Completed { get; init; }

    /// <summary>Name of a <see cref="FailureReason"/>.</summary>
    public string? Reason { get; init; }

    /// <summary>The order.</summary>
    public HistoryOrder Order { get; init; }
}

/// <summary>Reads the history for people: sorted, searched and in pages that stay where they are while items come and go (ADM-4).</summary>
internal sealed class HistoryListStore(SluiceDatabase database)
{
    // Holds every column that conditions and orders name.
    private const string Index = "history_item_listed";

    /// <summary>A page of the items that match.</summary>
    /// <param name="query">Which, in which order.</param>
    /// <param name="after">Items behind this place; null from the first on.</param>
    /// <param name="limit">How many at most.</param>
    /// <param name="cancellationToken">Counts until the query begins.</param>
    public Task<RowPage<HistoryItem>> ReadAsync(HistoryQuery query, RowPlace? after, int limit, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection =>
            {
                var page = Find(connection, query, after, limit);
                var list = SqlDialect.List(page.Items.Select(row => row.Number).ToList());
                var items = connection
                    .Query<HistoryItem>($"SELECT {HistoryStore.Columns} FROM history_item WHERE {SqlDialect.In("number", "@list")}", new { list })
                    .ToDictionary(item => item.Number);
                return page.Of(row => items[row.Number]);
            },
            cancellationToken);

    /// <summary>The row numbers of all items that match, in order.</summary>
    public Task<IReadOnlyList<long>> FindNumbersAsync(HistoryQuery query, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<long>)[.. Find(connection, query, null, int.MaxValue).Items.Select(row => row.Number)], cancellationToken);

    /// <summary>The items of some ids, in any order; unknown ones are left out.</summary>
    public Task<IReadOnlyList<HistoryItem>> FindAsync(IReadOnlyCollection<string> ids, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<HistoryItem>)
            [
                .. connection.Query<HistoryItem>(
                    $"SELECT {HistoryStore.Columns} FROM history_item WHERE {SqlDialect.In("id", "@list")}", new { list = SqlDialect.List(ids) }),
            ],
            cancellationToken);

    /// <summary>The ids of rows in their order; those that are gone are left out.</summary>
    public Task<IReadOnlyList<string>> FindIdsAsync(IReadOnlyCollection<long> numbers, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<string>)
            [
                .. connection.Query<string>(
                    $"SELECT id FROM history_item WHERE {SqlDialect.In("number", "@list")} ORDER BY number", new { list = SqlDialect.List(numbers) }),
            ],
            cancellationToken);

    /// <summary>Items of the whole history.</summary>
    public Task<long> CountAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(connection => connection.ExecuteScalar<long>("SELECT count(*) FROM history_item"), cancellationToken);

    private static RowPage<PlacedRow> Find(DbConnection connection, HistoryQuery query, RowPlace? after, int limit)
    {
        var (list, table, order) = Plan(query);
        return list.Read(connection, table, order, after, limit);
    }

    /// <summary>How a list is read: what it is of, by which index, and in which order.</summary>
    internal static (ListQuery List, string Table, RowOrder Order) Plan(HistoryQuery query)
    {
        var list = new ListQuery("folded", query.Words);
        if (query.Category is { } category)
            list.Add(SqlDialect.IsInAnyCase("category", "@category", category), ("@category", category));
        if (query.Completed is { } completed)
            list.Add(completed ? "reason IS NULL" : "reason IS NOT NULL");
        if (query.Reason is { } reason)
            list.Add("reason = @reason", ("@reason", reason));
        var order = query.Order switch
        {
            HistoryOrder.Newest => RowOrder.ByRow("number", descends: true),
            HistoryOrder.Oldest => RowOrder.ByRow("number"),
            HistoryOrder.Size => RowOrder.ByRank("bytes", "number", descends: true),
            _ => RowOrder.ByText("folded", "number"),
        };
        // The rows are in the order of their numbers by themselves, so that the first of all of them need no index.
        var isByItself = list.IsWhole && query.Order is (HistoryOrder.Newest or HistoryOrder.Oldest);
        return (list, isByItself ? "history_item" : $"history_item {SqlDialect.By(Index)}", order);
    }
}
