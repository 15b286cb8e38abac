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
                var (rows, total) = Find(connection, query, after, limit + 1);
                var page = rows.Take(limit).ToList();
                var list = SqlDialect.List(page.Select(row => row.Number).ToList());
                var items = connection
                    .Query<HistoryItem>($"SELECT {HistoryStore.Columns} FROM history_item WHERE {SqlDialect.In("number", "@list")}", new { list })
                    .ToDictionary(item => item.Number);
                return new RowPage<HistoryItem>(
                    [.. page.Select(row => items[row.Number])], rows.Count > limit ? page[^1].Place : null, total);
            },
            cancellationToken);

    /// <summary>The row numbers of all items that match, in order.</summary>
    public Task<IReadOnlyList<long>> FindNumbersAsync(HistoryQuery query, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<long>)[.. Find(connection, query, null, int.MaxValue).Rows.Select(row => row.Number)], cancellationToken);

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

    private static (List<PlacedRow> Rows, long Total) Find(DbConnection connection, HistoryQuery query, RowPlace? after, int most)
    {
        var (rows, count, categories) = Sql(query, isFirst: after is null);
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
            reason = query.Reason,
            rank = after?.Rank ?? 0,
            text = after?.Text ?? "",
            row = after?.Row ?? 0,
            most,
        };
        return (connection.Query<PlacedRow>(rows, values).AsList(), connection.ExecuteScalar<long>(count, values));
    }

    /// <summary>The queries of a page, and the value of their parameter of categories.</summary>
    /// <param name="query">Which items, in which order.</param>
    /// <param name="isFirst">Whether it is the first page.</param>
    internal static (string Rows, string Count, string? Categories) Sql(HistoryQuery query, bool isFirst)
    {
        var filter = new SqlFilter();
        foreach (var term in SqlDialect.ContainsWords("folded", query.Words.Count))
            filter.Add(term);
        var categories = filter.AddAnyCase("category", "@categories", query.Category is null ? null : [query.Category]);
        if (query.Completed is { } completed)
            filter.Add(completed ? "reason IS NULL" : "reason IS NOT NULL");
        if (query.Reason is not null)
            filter.Add("reason = @reason");
        var all = filter.Where;
        var (rank, text, order, behind) = Sorting(query.Order);
        if (!isFirst)
            filter.Add(behind);
        // The rows are in the order of their numbers by themselves, so that the first of all of them need no index.
        var from = all.Length == 0 && query.Order is HistoryOrder.Newest or HistoryOrder.Oldest ? "history_item" : $"history_item {SqlDialect.By(Index)}";
        return (
            $"SELECT number AS Number, {rank} AS Rank, {text} AS Text, number AS \"Row\" FROM {from} {filter.Where} ORDER BY {order} LIMIT @most",
            $"SELECT count(*) FROM history_item {all}",
            categories);
    }

    /// <summary>What a list is sorted by, and what stands behind a place in it.</summary>
    private static (string Rank, string Text, string Order, string Behind) Sorting(HistoryOrder order) => order switch
    {
        HistoryOrder.Newest => ("0", "''", "number DESC", "number < @row"),
        HistoryOrder.Oldest => ("0", "''", "number", "number > @row"),
        HistoryOrder.Size => ("bytes", "''", "bytes DESC, number DESC", "(bytes, number) < (@rank, @row)"),
        _ => ("0", "folded", "folded, number", "(folded, number) > (@text, @row)"),
    };
}
