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

    /// <summary>Stored categories, in any case.</summary>
    public IReadOnlyList<string>? Categories { get; init; }

    /// <summary>True: completed items, false: failed ones, null: both.</summary>
    public bool? Completed { get; init; }

    /// <summary>False: items that no client has deleted, true: the archive, null: both.</summary>
    public bool? Archived { get; init; } = false;

    /// <summary>Matches nothing at all, whatever the rest says.</summary>
    public bool Nothing { get; init; }
}

/// <summary>A page of the history at one moment.</summary>
internal sealed record HistoryPage
{
    /// <summary>How many items match, on this page and off it.</summary>
    public long Matches { get; init; }

    /// <summary>The row numbers of those on it, as the database gathers them; null where the bounds say as much.</summary>
    public string? Numbers { get; init; }

    /// <summary>The highest row number on it.</summary>
    public long First { get; init; }

    /// <summary>The lowest.</summary>
    public long Last { get; init; }

    /// <summary>The condition that the rows between the bounds meet, where there are no numbers.</summary>
    public string Where { get; init; } = "";
}

/// <summary>What is left to do once an item has been archived or removed.</summary>
internal sealed record EndedItem
{
    /// <summary>Name of its release.</summary>
    public required string Name { get; init; }

    /// <summary>Folder of its release.</summary>
    public required string Folder { get; init; }

    /// <summary>Content id of the stored NZB, or null.</summary>
    public string? NzbHash { get; init; }

    /// <summary>Whether a release came of it.</summary>
    public bool IsCompleted { get; init; }

    /// <summary>Whether it was in the archive before.</summary>
    public bool Archived { get; init; }
}

/// <summary>The password of an item as its row has it.</summary>
internal sealed record KeptPassword(string Id, string Password);

/// <summary>Reads and writes <c>history_item</c>. Newest first is the order of the rows' numbers.</summary>
/// <remarks>
/// The counter of changes (SAB-45) is the table's own sequence: it counts inserts, every transaction that changes or removes rows moves it
/// by one, and it survives restarts with the rows.
/// </remarks>
internal sealed class HistoryStore(SluiceDatabase database)
{
    /// <summary>Where the rows refer to stored NZBs.</summary>
    public static readonly BlobReference NzbReference = new("history_item", "nzb_hash", "history_item_nzb");

    // Literals, because each of the two lists has an index of its own.
    private const string Shown = "archived = 0";
    private const string InArchive = "archived = 1";

    // Rows that may be read and left out for each row of a page.
    private const int MostPassedOver = 4;

    /// <summary>What a row is read by.</summary>
    internal const string Columns =
        """
        number AS Number, id AS Id, name AS Name, nzb_name AS NzbName, category AS Category, folder AS Folder, priority AS Priority,
        password AS Password, post_processing AS PostProcessing, script AS Script, nzb_hash AS NzbHash,
        nzb_length AS NzbLength, archived AS Archived, encoded_bytes AS EncodedBytes, bytes AS Bytes, release_id AS ReleaseId, reason AS Reason, fail_message AS FailMessage,
        added_at AS AddedMilliseconds, started_at AS StartedMilliseconds, completed_at AS CompletedMilliseconds, steps AS StepsText, url AS Url
        """;

    /// <summary>Adds an item as part of the caller's transaction.</summary>
    public static void Insert(DbConnection connection, HistoryItem item) =>
        connection.Execute(
            """
            INSERT INTO history_item
              (id, name, nzb_name, category, folder, priority, password, post_processing, script, nzb_hash, nzb_length, encoded_bytes, bytes,
               release_id, reason, fail_message, added_at, started_at, completed_at, steps, url, archived, folded)
            VALUES
              (@Id, @Name, @NzbName, @Category, @Folder, @Priority, @Password, @PostProcessing, @Script, @NzbHash, @NzbLength, @EncodedBytes, @Bytes,
               @ReleaseId, @Reason, @FailMessage, @AddedMilliseconds, @StartedMilliseconds,
               @CompletedMilliseconds, @StepsText, @Url, @Archived, fold_text(@Name))
            """,
            item);

    /// <summary>Whether there is an item of an id, as part of the caller's transaction.</summary>
    public static bool Contains(DbConnection connection, string id) =>
        connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM history_item WHERE id = @id)", new { id });

    /// <summary>Whether an item refers to a stored NZB, as part of the caller's transaction.</summary>
    public static bool Uses(DbConnection connection, string nzbHash) =>
        connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM history_item WHERE nzb_hash = @nzbHash)", new { nzbHash });

    /// <summary>The password with which a release was imported; null for none, or if its item has left the history.</summary>
    public Task<KeptPassword?> FindPasswordAsync(long releaseId, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.QueryFirstOrDefault<KeptPassword>(
                "SELECT id AS Id, password AS Password FROM history_item WHERE release_id = @releaseId AND password <> ''", new { releaseId }),
            cancellationToken);

    /// <summary>Removes the completed items of a release that are not archived, as part of the caller's transaction.</summary>
    /// <returns>How many there were.</returns>
    public static int RemoveCompleted(DbConnection connection, long releaseId) => Counted(
        connection,
        connection.Execute("DELETE FROM history_item WHERE release_id = @releaseId AND reason IS NULL AND archived = 0", new { releaseId }));

    /// <summary>Removes items for good, as part of the caller's transaction.</summary>
    /// <param name="connection">The caller's.</param>
    /// <param name="numbers">The numbers of their rows.</param>
    /// <returns>The items as they were.</returns>
    public static IReadOnlyList<EndedItem> Remove(DbConnection connection, IReadOnlyCollection<long> numbers)
    {
        var list = SqlDialect.List(numbers);
        var items = FindEnded(connection, list);
        Counted(connection, connection.Execute($"DELETE FROM history_item WHERE {SqlDialect.In("number", "@list")}", new { list }));
        return items;
    }

    /// <summary>Archives items, as part of the caller's transaction.</summary>
    /// <param name="connection">The caller's.</param>
    /// <param name="numbers">The numbers of their rows.</param>
    /// <param name="forgetsNzbs">Whether failed ones need their NZB no more.</param>
    /// <returns>The items as they were.</returns>
    public static IReadOnlyList<EndedItem> Archive(DbConnection connection, IReadOnlyCollection<long> numbers, bool forgetsNzbs)
    {
        var list = SqlDialect.List(numbers);
        var items = FindEnded(connection, list);
        Counted(
            connection,
            connection.Execute(
                $"""
                UPDATE history_item
                SET archived = 1, nzb_hash = CASE WHEN reason IS NULL OR @forgetsNzbs = 0 THEN nzb_hash END, url = CASE WHEN @forgetsNzbs = 0 THEN url END
                WHERE {SqlDialect.In("number", "@list")}
                  AND (archived = 0 OR (@forgetsNzbs = 1 AND reason IS NOT NULL AND nzb_hash IS NOT NULL))
                """,
                new { list, forgetsNzbs }));
        return items;
    }

    /// <summary>Takes a failed item that has its NZB, or its address, out of the history, as part of the caller's transaction.</summary>
    /// <param name="connection">The caller's.</param>
    /// <param name="id">The item.</param>
    /// <param name="needsNzb">Whether an item without its NZB is none.</param>
    /// <returns>Null when there is none.</returns>
    public static HistoryItem? TakeFailed(DbConnection connection, string id, bool needsNzb)
    {
        var item = connection.QuerySingleOrDefault<HistoryItem>(
            $"SELECT {Columns} FROM history_item WHERE id = @id AND reason IS NOT NULL AND (coalesce(nzb_hash, url) IS NOT NULL OR @needsNzb = 0)",
            new { id, needsNzb });
        if (item is not null)
            Counted(connection, connection.Execute("DELETE FROM history_item WHERE id = @id", new { id }));
        return item;
    }

    /// <summary>One item, or null.</summary>
    public Task<HistoryItem?> FindAsync(string id, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.QuerySingleOrDefault<HistoryItem>($"SELECT {Columns} FROM history_item WHERE id = @id", new { id }),
            cancellationToken);

    /// <summary>The row numbers of matching items, the newest first.</summary>
    public Task<IReadOnlyList<long>> FindNumbersAsync(HistoryFilter filter, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection =>
            {
                var (where, values) = Conditions(filter, 0, 0);
                return (IReadOnlyList<long>)[.. connection.Query<long>($"SELECT number FROM history_item {where} ORDER BY number DESC", values)];
            },
            cancellationToken);

    /// <summary>The row numbers of items that ended before a time and are archived or failed.</summary>
    public Task<IReadOnlyList<long>> FindOldAsync(DateTimeOffset before, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<long>)
            [
                .. connection.Query<long>(
                    "SELECT number FROM history_item WHERE completed_at < @limit AND (archived = 1 OR reason IS NOT NULL) ORDER BY number",
                    new { limit = before.ToUnixTimeMilliseconds() }),
            ],
            cancellationToken);

    /// <summary>The ids of failed items that are not archived and have their NZB or its address, the oldest first.</summary>
    public Task<IReadOnlyList<string>> FindFailedAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<string>)
            [
                .. connection.Query<string>(
                    "SELECT id FROM history_item WHERE reason IS NOT NULL AND archived = 0 AND coalesce(nzb_hash, url) IS NOT NULL ORDER BY number"),
            ],
            cancellationToken);

    /// <summary>Declares items whose release is there to be completed.</summary>
    /// <returns>Whether there was one.</returns>
    public Task<bool> CompleteAsync(IReadOnlyCollection<string> ids, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => Counted(
                connection,
                connection.Execute(
                    $"UPDATE history_item SET reason = NULL, fail_message = '' WHERE release_id IS NOT NULL AND {SqlDialect.In("id", "@list")}",
                    new { list = SqlDialect.List(ids) })) > 0,
            cancellationToken);

    /// <summary>How many items have an address or an archive password that is sealed.</summary>
    public Task<int> CountSealedAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.ExecuteScalar<int>("SELECT count(*) FROM history_item WHERE url IS NOT NULL OR substr(password, 1, 7) = 'enc:v1:'"),
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
                    page.Numbers is null
                        ? $"SELECT {Columns} FROM history_item {page.Where} AND number BETWEEN @Last AND @First ORDER BY number DESC"
                        : $"SELECT {Columns} FROM history_item WHERE {SqlDialect.In("number", "@Numbers")} ORDER BY number DESC",
                    page,
                    buffered: false),
            cancellationToken);

    /// <summary>The query of a page.</summary>
    /// <param name="where">Its conditions.</param>
    /// <param name="isCostly">Whether rows are hard to judge: they are looked at once then, both for their count and for the newest.</param>
    internal static string PageSql(string where, bool isCostly)
    {
        // Otherwise the newest are found at the end of the index, which is in their order.
        var (with, from) = isCostly ? ($"WITH m AS MATERIALIZED (SELECT number FROM history_item {where})", "m") : ("", $"history_item {where}");
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
        if (filter.Archived is { } archived)
            conditions.Add(archived ? InArchive : Shown);
        if (filter.Completed is { } completed)
            conditions.Add(completed ? "reason IS NULL" : "reason IS NOT NULL");
        var values = new PageValues(
            conditions.AddList("id", "@Ids", filter.Ids),
            conditions.AddAnyCase("category", "@Categories", filter.Categories),
            conditions.AddSearch("name", "@Search", filter.Search),
            start,
            limit);
        return (conditions.Where, values);
    }

    /// <summary>Notes a change for clients that poll, if there was one.</summary>
    internal static int Counted(DbConnection connection, int changed)
    {
        if (changed > 0)
            connection.Execute(SqlDialect.SkipNumber("history_item"));
        return changed;
    }

    /// <summary>Items by a list of their row numbers, as part of the caller's transaction.</summary>
    internal static IReadOnlyList<EndedItem> FindEnded(DbConnection connection, string list) =>
    [
        .. connection.Query<EndedItem>(
            $"""
            SELECT name AS Name, folder AS Folder, nzb_hash AS NzbHash, reason IS NULL AS IsCompleted, archived AS Archived
            FROM history_item WHERE {SqlDialect.In("number", "@list")}
            """,
            new { list }),
    ];

    private static HistoryPage FindPage(DbConnection connection, HistoryFilter filter, int start, int limit)
    {
        var (where, values) = Conditions(filter, start, limit);
        return FindBounds(connection, where, values) ?? connection.QuerySingle<HistoryPage>(PageSql(where, isCostly: values.Search is not null), values);
    }

    /// <summary>A page of a whole list by its bounds, so that its rows begin to come at once; null where few of the rows between them are on it.</summary>
    private static HistoryPage? FindBounds(DbConnection connection, string where, PageValues values)
    {
        if (where is not ($"WHERE {Shown}" or $"WHERE {InArchive}"))
            return null;
        var page = connection.QuerySingle<HistoryPage>(
            $"""
            SELECT (SELECT count(*) FROM history_item {where}) AS Matches, coalesce(max(number), 0) AS First, coalesce(min(number), 0) AS Last
            FROM (SELECT number FROM history_item {where} ORDER BY number DESC LIMIT @Limit OFFSET @Start) page
            """,
            values);
        var rows = Math.Clamp(page.Matches - values.Start, 0, values.Limit);
        return page.First - page.Last <= rows * MostPassedOver ? page with { Where = where } : null;
    }

    /// <summary>The parameters of a page; null for a condition that it does not have.</summary>
    internal sealed record PageValues(string? Ids, string? Categories, string? Search, int Start, int Limit);
}
