using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.History;

/// <summary>Which history items are asked for. Null lists and null search match everything.</summary>
internal sealed record HistoryFilter
{
    /// <summary>Case-insensitive part of the name.</summary>
    public string? Search { get; init; }

    /// <summary>Ids.</summary>
    public IReadOnlyList<string>? Ids { get; init; }

    /// <summary>Stored categories, compared exactly.</summary>
    public IReadOnlyList<string>? Categories { get; init; }

    /// <summary>True: completed items, false: failed ones, null: both.</summary>
    public bool? Completed { get; init; }

    /// <summary>Matches nothing at all, whatever the rest says.</summary>
    public bool Nothing { get; init; }
}

/// <summary>A page of the history at one moment.</summary>
/// <param name="Matches">How many items match, on this page and off it.</param>
/// <param name="Numbers">The row numbers of those on it, as the database gathers them.</param>
internal sealed record HistoryPage(long Matches, string Numbers);

/// <summary>Reads and writes <c>history_item</c>. Newest first is the order of the rows' numbers.</summary>
/// <remarks>
/// The counter of changes (SAB-45) is the table's own sequence: it counts inserts, removals move it by one, and it
/// survives restarts with the rows.
/// </remarks>
internal sealed class HistoryStore(SluiceDatabase database)
{
    /// <summary>Where the rows refer to stored NZBs.</summary>
    public static readonly BlobReference NzbReference = new("history_item", "nzb_hash", "history_item_nzb");

    private const string Columns =
        """
        id AS Id, name AS Name, nzb_name AS NzbName, category AS Category, folder AS Folder, priority AS Priority,
        password AS Password, post_processing AS PostProcessing, script AS Script, nzb_hash AS NzbHash,
        encoded_bytes AS EncodedBytes, bytes AS Bytes, release_id AS ReleaseId, reason AS Reason, fail_message AS FailMessage,
        added_at AS AddedMilliseconds, started_at AS StartedMilliseconds, completed_at AS CompletedMilliseconds, steps AS StepsText
        """;

    /// <summary>Adds an item as part of the caller's transaction.</summary>
    public static void Insert(DbConnection connection, HistoryItem item) =>
        connection.Execute(
            """
            INSERT INTO history_item
              (id, name, nzb_name, category, folder, priority, password, post_processing, script, nzb_hash, encoded_bytes, bytes,
               release_id, reason, fail_message, added_at, started_at, completed_at, steps)
            VALUES
              (@Id, @Name, @NzbName, @Category, @Folder, @Priority, @Password, @PostProcessing, @Script, @NzbHash, @EncodedBytes, @Bytes,
               @ReleaseId, @Reason, @FailMessage, @AddedMilliseconds, @StartedMilliseconds,
               @CompletedMilliseconds, @StepsText)
            """,
            item);

    /// <summary>Whether an item refers to a stored NZB, as part of the caller's transaction.</summary>
    public static bool Uses(DbConnection connection, string nzbHash) =>
        connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM history_item WHERE nzb_hash = @nzbHash)", new { nzbHash });

    /// <summary>Removes the completed items of a release, as part of the caller's transaction.</summary>
    /// <returns>How many there were.</returns>
    public static int RemoveCompleted(DbConnection connection, long releaseId)
    {
        var removed = connection.Execute("DELETE FROM history_item WHERE release_id = @releaseId AND reason IS NULL", new { releaseId });
        if (removed > 0)
            connection.Execute(SqlDialect.SkipNumber("history_item"));
        return removed;
    }

    /// <summary>One item, or null.</summary>
    public Task<HistoryItem?> FindAsync(string id, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.QuerySingleOrDefault<HistoryItem>($"SELECT {Columns} FROM history_item WHERE id = @id", new { id }),
            cancellationToken);

    /// <summary>How many changes there have been.</summary>
    public Task<long> CountChangesAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.ExecuteScalar<long?>(SqlDialect.LastNumber("history_item")) ?? 0,
            cancellationToken);

    /// <summary>Finds the items of a page, the newest first, and counts all that match.</summary>
    /// <param name="filter">Which.</param>
    /// <param name="start">How many to pass over.</param>
    /// <param name="limit">How many to give at most.</param>
    /// <param name="cancellationToken">Counts until the query begins.</param>
    public Task<HistoryPage> FindPageAsync(HistoryFilter filter, int start, int limit, CancellationToken cancellationToken) =>
        database.ReadAsync(connection => FindPage(connection, filter, start, limit), cancellationToken);

    /// <summary>The items of a page one by one, without items that were removed since the page was read.</summary>
    public IAsyncEnumerable<HistoryItem> StreamAsync(HistoryPage page, CancellationToken cancellationToken) =>
        database.StreamAsync(
            connection => connection
                .Query<HistoryItem>(
                    $"SELECT {Columns} FROM history_item WHERE {SqlDialect.In("number", "@Numbers")} ORDER BY number DESC",
                    page,
                    buffered: false),
            cancellationToken);

    /// <summary>The query of a page: matches are looked for once, both for their count and for the newest of them.</summary>
    internal static string PageSql(string where)
    {
        // Counting every row and taking the last of them needs no list of matches.
        var (with, from) = where.Length == 0 ? ("", "history_item") : ($"WITH m AS MATERIALIZED (SELECT number FROM history_item {where})", "m");
        return $"""
            {with}
            SELECT
              (SELECT count(*) FROM {from}) AS Matches,
              (SELECT {SqlDialect.Gather("number")} FROM (SELECT number FROM {from} ORDER BY number DESC LIMIT @Limit OFFSET @Start) page) AS Numbers
            """;
    }

    /// <summary>The conditions of a filter. Where no ids are asked for, an index holds every column that they name.</summary>
    internal static (string Where, PageValues Values) Conditions(HistoryFilter filter, int start, int limit)
    {
        var conditions = new SqlFilter();
        if (filter.Nothing)
            conditions.Add(SqlDialect.Never);
        if (filter.Completed is { } completed)
            conditions.Add(completed ? "reason IS NULL" : "reason IS NOT NULL");
        var values = new PageValues(
            conditions.AddList("id", "@Ids", filter.Ids),
            conditions.AddList("category", "@Categories", filter.Categories),
            conditions.AddSearch("name", "@Search", filter.Search),
            start,
            limit);
        return (conditions.Where, values);
    }

    private static HistoryPage FindPage(DbConnection connection, HistoryFilter filter, int start, int limit)
    {
        var (where, values) = Conditions(filter, start, limit);
        return connection.QuerySingle<HistoryPage>(PageSql(where), values);
    }

    /// <summary>The parameters of a page; null for a condition that it does not have.</summary>
    internal sealed record PageValues(string? Ids, string? Categories, string? Search, int Start, int Limit);
}
