using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Library;

namespace Sluice.Server.History;

internal enum HistoryOrder
{
    Newest,

    Oldest,

    Name,

    Size,
}

/// <summary>Filter of the history page, which includes archived items. Null matches everything.</summary>
internal sealed record HistoryQuery
{
    /// <summary>Folded words (<see cref="SearchText"/>) that the name must contain.</summary>
    public IReadOnlyList<string> Words { get; init; } = [];

    public string? Category { get; init; }

    /// <summary>True for completed items, false for failed ones; null for both.</summary>
    public bool? Completed { get; init; }

    public string? Reason { get; init; }

    /// <summary>Whether to return only items whose release is in no library.</summary>
    public bool Rejected { get; init; }

    /// <summary>Whether to return only items whose release plays with gaps.</summary>
    public bool WithGaps { get; init; }

    public HistoryOrder Order { get; init; }
}

/// <summary>Reads sorted, searched pages of the history. Pages stay stable while items come and go (ADM-4).</summary>
internal sealed class HistoryListStore(SluiceDatabase database)
{
    // Covers the columns of all filters and sort orders.
    private const string Index = "history_item_listed";

    /// <summary>Reads a page of matching items, starting after <paramref name="after"/>, or at the beginning if null.</summary>
    public Task<RowPage<HistoryItem>> ReadAsync(HistoryQuery query, RowPlace? after, int limit, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection =>
            {
                var page = Find(connection, query, after, limit);
                var list = SqlDialect.List(page.Items.Select(row => row.Number).ToList());
                var items = WithFacts(connection, connection.Query<HistoryItem>(
                        $"SELECT {HistoryStore.ListedColumns} FROM history_item WHERE {SqlDialect.In("number", "@list")}", new { list }))
                    .ToDictionary(item => item.Number);
                return page.Of(row => items[row.Number]);
            },
            cancellationToken);

    /// <summary>Returns the row numbers of all matching items, in order.</summary>
    public Task<IReadOnlyList<long>> FindNumbersAsync(HistoryQuery query, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<long>)[.. Find(connection, query, null, int.MaxValue).Items.Select(row => row.Number)], cancellationToken);

    /// <summary>Finds items by id, in any order. Unknown ids are skipped.</summary>
    public Task<IReadOnlyList<HistoryItem>> FindAsync(IReadOnlyCollection<string> ids, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<HistoryItem>)
            [
                .. WithFacts(connection, connection.Query<HistoryItem>(
                    $"SELECT {HistoryStore.ListedColumns} FROM history_item WHERE {SqlDialect.In("id", "@list")}", new { list = SqlDialect.List(ids) })),
            ],
            cancellationToken);

    /// <summary>Returns the ids of rows, in row order. Removed rows are skipped.</summary>
    public Task<IReadOnlyList<string>> FindIdsAsync(IReadOnlyCollection<long> numbers, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<string>)
            [
                .. connection.Query<string>(
                    $"SELECT id FROM history_item WHERE {SqlDialect.In("number", "@list")} ORDER BY number", new { list = SqlDialect.List(numbers) }),
            ],
            cancellationToken);

    public Task<long> CountAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(connection => connection.ExecuteScalar<long>("SELECT count(*) FROM history_item"), cancellationToken);

    /// <summary>Adds the release facts to items, in the caller's transaction.</summary>
    internal static IEnumerable<HistoryItem> WithFacts(DbConnection connection, IEnumerable<HistoryItem> items)
    {
        List<HistoryItem> all = [.. items];
        var facts = TitleStore.Find(connection, all.Select(item => item.ReleaseId).OfType<long>());
        return all.Select(item => item.ReleaseId is { } release ? item with { Facts = facts.GetValueOrDefault(release) } : item);
    }

    private static RowPage<PlacedRow> Find(DbConnection connection, HistoryQuery query, RowPlace? after, int limit)
    {
        var (list, table, order) = Plan(query);
        return list.Read(connection, table, order, after, limit);
    }

    /// <summary>Plans a list: its filter, its table with an index hint, and its order.</summary>
    internal static (ListQuery List, string Table, RowOrder Order) Plan(HistoryQuery query)
    {
        var list = new ListQuery("folded", query.Words);
        if (query.Category is { } category)
            list.Add(SqlDialect.IsInAnyCase("category", "@category", category), ("@category", category));
        if (query.Completed is { } completed)
            list.Add(completed ? "reason IS NULL" : "reason IS NOT NULL");
        if (query.Reason is { } reason)
            list.Add("reason = @reason", ("@reason", reason));
        if (query.Rejected)
            list.Add(ReleaseClaims.IsRejected);
        if (query.WithGaps)
            list.Add("release_id IN (SELECT id FROM release WHERE missing > 0)");
        var order = query.Order switch
        {
            HistoryOrder.Newest => RowOrder.ByRow("number", descends: true),
            HistoryOrder.Oldest => RowOrder.ByRow("number"),
            HistoryOrder.Size => RowOrder.ByRank("bytes", "number", descends: true),
            _ => RowOrder.ByText("folded", "number"),
        };
        // Unfiltered lists in row order need no index. Neither do rejected releases, because they are few and lead to their items.
        var isByItself = query.Rejected || query.WithGaps || (list.IsWhole && query.Order is (HistoryOrder.Newest or HistoryOrder.Oldest));
        return (list, isByItself ? "history_item" : $"history_item {SqlDialect.IndexedBy(Index)}", order);
    }
}
