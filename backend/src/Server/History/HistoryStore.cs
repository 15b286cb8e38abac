using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Library;

namespace Sluice.Server.History;

/// <summary>An item's folder inside its category folder.</summary>
internal sealed record ItemFolder(string Folder, string ReleaseFolder);

/// <summary>Filter of the SABnzbd API. Null lists and a null search match everything.</summary>
internal sealed record HistoryFilter
{
    /// <summary>Text that the name must contain, ignoring case.</summary>
    public string? Search { get; init; }

    public IReadOnlyList<string>? Ids { get; init; }

    /// <summary>Stored categories, ignoring case.</summary>
    public IReadOnlyList<string>? Categories { get; init; }

    /// <summary>True for completed items, false for failed ones, null for both.</summary>
    public bool? Completed { get; init; }

    /// <summary>False for items that no client has deleted, true for archived items, null for both.</summary>
    public bool? Archived { get; init; } = false;

    /// <summary>Whether the filter matches nothing, whatever its conditions.</summary>
    public bool Nothing { get; init; }
}

internal sealed record HistoryPage
{
    public long Matches { get; init; }

    /// <summary>Row numbers of the page as a database list; null if bounds define the page.</summary>
    public string? Numbers { get; init; }

    public long First { get; init; }

    public long Last { get; init; }

    /// <summary>Condition that selects the rows between the bounds; unused if there are row numbers.</summary>
    public string Where { get; init; } = "";
}

/// <summary>What is needed for cleanup after an item was archived or removed.</summary>
internal sealed record EndedItem
{
    public required string Folder { get; init; }

    /// <inheritdoc cref="HistoryItem.ReleaseFolder"/>
    public required string ReleaseFolder { get; init; }

    /// <summary>Hash of the stored NZB, or null.</summary>
    public string? NzbHash { get; init; }

    public bool IsCompleted { get; init; }

    public ClientView View { get; init; }
}

internal sealed record KeptPassword(string Id, string Password);

/// <summary>
/// Reads and writes <c>history_item</c>. Newest first means descending row numbers. The change counter (SAB-45) is the table's sequence, because the sequence
/// survives restarts. The counter grows with every insert, and once per transaction that changes or removes rows.
/// </summary>
internal sealed class HistoryStore(SluiceDatabase database)
{
    public static readonly BlobReference NzbReference = new("history_item", "nzb_hash", "history_item_nzb");

    // Literals, so that SQLite can use the partial index of each list.
    private const string Shown = "archived = 0";
    private const string InArchive = "archived = 1";
    private const string InBoth = "archived < 2";

    // Maximum rows to scan per row of a page that is read between bounds.
    private const int MaxScannedPerRow = 4;

    internal const string Columns =
        """
        number AS Number, id AS Id, name AS Name, nzb_name AS NzbName, category AS Category, folder AS Folder, priority AS Priority,
        password AS Password, post_processing AS PostProcessing, script AS Script, nzb_hash AS NzbHash,
        nzb_length AS NzbLength, archived AS View, encoded_bytes AS EncodedBytes, bytes AS Bytes, release_id AS ReleaseId, reason AS Reason, fail_message AS FailMessage,
        added_at AS AddedMilliseconds, started_at AS StartedMilliseconds, completed_at AS CompletedMilliseconds, steps AS StepsText, url AS Url,
        release_folder AS ReleaseFolder, strm_root AS StrmRoot
        """;

    /// <summary>The columns of an item, including the state of its release.</summary>
    internal const string ListedColumns =
        $"""
        {Columns}, (SELECT r.category || '/' || r.name FROM release r WHERE r.id = release_id) AS ContentPath, coalesce({ReleaseClaims.IsRejected}, 0) AS IsRejected
        """;

    /// <summary>Inserts an item. Runs in the caller's transaction.</summary>
    public static void Insert(DbConnection connection, HistoryItem item) =>
        connection.Execute(
            """
            INSERT INTO history_item
              (id, name, nzb_name, category, folder, priority, password, post_processing, script, nzb_hash, nzb_length, encoded_bytes, bytes,
               release_id, reason, fail_message, added_at, started_at, completed_at, steps, url, archived, folded, release_folder, strm_root)
            VALUES
              (@Id, @Name, @NzbName, @Category, @Folder, @Priority, @Password, @PostProcessing, @Script, @NzbHash, @NzbLength, @EncodedBytes, @Bytes,
               @ReleaseId, @Reason, @FailMessage, @AddedMilliseconds, @StartedMilliseconds,
               @CompletedMilliseconds, @StepsText, @Url, @View, fold_text(@Name), @ReleaseFolder, @StrmRoot)
            """,
            item);

    /// <summary>Whether an item exists. Runs in the caller's transaction.</summary>
    public static bool Contains(DbConnection connection, string id) =>
        connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM history_item WHERE id = @id)", new { id });

    /// <summary>Whether any item refers to a stored NZB. Runs in the caller's transaction.</summary>
    public static bool Uses(DbConnection connection, string nzbHash) =>
        connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM history_item WHERE nzb_hash = @nzbHash)", new { nzbHash });

    /// <summary>Finds the password with which a release was imported; null if there is no password or no item.</summary>
    public Task<KeptPassword?> FindPasswordAsync(long releaseId, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.QueryFirstOrDefault<KeptPassword>(
                "SELECT id AS Id, password AS Password FROM history_item WHERE release_id = @releaseId AND password <> ''", new { releaseId }),
            cancellationToken);

    /// <summary>Returns the passwords of all items of a release, including removed items. Runs in the caller's transaction.</summary>
    public static IReadOnlyList<KeptPassword> ListPasswords(DbConnection connection, long releaseId) =>
    [
        .. connection.Query<KeptPassword>(
            """
            SELECT id AS Id, password AS Password FROM history_item WHERE release_id = @releaseId
            UNION ALL SELECT id, password FROM removed_history_item WHERE release_id = @releaseId
            """,
            new { releaseId }),
    ];

    /// <summary>Removes items permanently in the caller's transaction. Returns them as they were before.</summary>
    public static IReadOnlyList<EndedItem> Remove(DbConnection connection, IReadOnlyCollection<long> numbers)
    {
        var list = SqlDialect.List(numbers);
        var items = FindEnded(connection, list);
        AdvanceChanges(connection, connection.Execute($"DELETE FROM history_item WHERE {SqlDialect.In("number", "@list")}", new { list }));
        return items;
    }

    /// <summary>
    /// Hides items in the caller's transaction and returns them as they were before. If <paramref name="forgetsNzbs"/> is true, failed items lose their NZB.
    /// </summary>
    /// <param name="view">Archive or nowhere. Items that are already nowhere do not return to the archive.</param>
    public static IReadOnlyList<EndedItem> Hide(DbConnection connection, IReadOnlyCollection<long> numbers, ClientView view, bool forgetsNzbs)
    {
        var list = SqlDialect.List(numbers);
        var items = FindEnded(connection, list);
        AdvanceChanges(
            connection,
            connection.Execute(
                $"""
                UPDATE history_item
                SET archived = max(archived, @view), nzb_hash = CASE WHEN reason IS NULL OR @forgetsNzbs = 0 THEN nzb_hash END, url = CASE WHEN @forgetsNzbs = 0 THEN url END
                WHERE {SqlDialect.In("number", "@list")}
                  AND (archived < @view OR (@forgetsNzbs = 1 AND reason IS NOT NULL AND nzb_hash IS NOT NULL))
                """,
                new { list, view, forgetsNzbs }));
        return items;
    }

    /// <summary>
    /// Removes and returns a failed item in the caller's transaction, or null. If <paramref name="needsNzb"/> is true, the item must have an NZB or a URL.
    /// </summary>
    public static HistoryItem? TakeFailed(DbConnection connection, string id, bool needsNzb)
    {
        var item = connection.QuerySingleOrDefault<HistoryItem>(
            $"SELECT {Columns} FROM history_item WHERE id = @id AND reason IS NOT NULL AND (coalesce(nzb_hash, url) IS NOT NULL OR @needsNzb = 0)",
            new { id, needsNzb });
        if (item is not null)
            AdvanceChanges(connection, connection.Execute("DELETE FROM history_item WHERE id = @id", new { id }));
        return item;
    }

    public Task<HistoryItem?> FindAsync(string id, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => HistoryListStore.WithFacts(connection, connection.Query<HistoryItem>($"SELECT {ListedColumns} FROM history_item WHERE id = @id", new { id }))
                .SingleOrDefault(),
            cancellationToken);

    /// <summary>Returns completed items by row number.</summary>
    public Task<IReadOnlyList<HistoryItem>> FindCompletedAsync(IReadOnlyCollection<long> numbers, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<HistoryItem>)
            [
                .. connection.Query<HistoryItem>(
                    $"SELECT {Columns} FROM history_item WHERE {SqlDialect.In("number", "@list")} AND release_id IS NOT NULL AND reason IS NULL",
                    new { list = SqlDialect.List(numbers) }),
            ],
            cancellationToken);

    /// <summary>Returns the row numbers of matching items, newest first.</summary>
    public Task<IReadOnlyList<long>> FindNumbersAsync(HistoryFilter filter, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection =>
            {
                var (where, values) = Conditions(filter, 0, 0);
                return (IReadOnlyList<long>)[.. connection.Query<long>($"SELECT number FROM history_item {where} ORDER BY number DESC", values)];
            },
            cancellationToken);

    /// <summary>
    /// Returns the row numbers of failed and client-deleted items completed before a time. Skips items whose release is unopened or refused, because their date
    /// is from the old server.
    /// </summary>
    public Task<IReadOnlyList<long>> FindOldAsync(DateTimeOffset before, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<long>)
            [
                .. connection.Query<long>(
                    """
                    SELECT number FROM history_item h WHERE completed_at < @limit AND (archived <> 0 OR reason IS NOT NULL)
                      AND NOT EXISTS (SELECT 1 FROM release_opening o WHERE o.release_id = h.release_id AND o.opened = 0)
                    ORDER BY number
                    """,
                    new { limit = before.ToUnixTimeMilliseconds() }),
            ],
            cancellationToken);

    /// <summary>Returns the ids of failed, unarchived items that can be retried, oldest first.</summary>
    public Task<IReadOnlyList<string>> FindFailedAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<string>)
            [
                .. connection.Query<string>(
                    "SELECT id FROM history_item WHERE reason IS NOT NULL AND archived = 0 AND coalesce(nzb_hash, url) IS NOT NULL ORDER BY number"),
            ],
            cancellationToken);

    /// <summary>Links a completed item to its release. Runs in the caller's transaction.</summary>
    /// <param name="folder">The item's folder in the release's category.</param>
    public static void Link(DbConnection connection, string id, Release release, string folder) => AdvanceChanges(
        connection,
        connection.Execute(
            """
            UPDATE history_item SET release_id = @releaseId, folder = @Category, release_folder = @folder
            WHERE id = @id AND release_id IS NULL AND reason IS NULL
            """,
            new { id, releaseId = release.Id, release.Category, folder = PathKey.OfName(folder) }));

    /// <summary>
    /// Marks a release's items as failed; null marks them as completed again. The release stays. Returns the folders of the changed items, whose links appear
    /// or disappear. Runs in the caller's transaction.
    /// </summary>
    public static IReadOnlyList<ItemFolder> SetFailure(DbConnection connection, long releaseId, ImportFailure? failure)
    {
        IReadOnlyList<ItemFolder> changed =
        [
            .. connection.Query<ItemFolder>(
                """
                UPDATE history_item SET reason = @reason, fail_message = @sentence WHERE release_id = @releaseId AND reason IS DISTINCT FROM @reason
                RETURNING folder AS Folder, release_folder AS ReleaseFolder
                """,
                new { releaseId, reason = failure?.Reason.ToString(), sentence = failure?.Sentence ?? "" }),
        ];
        AdvanceChanges(connection, changed.Count);
        return changed;
    }

    /// <summary>Counts items with an encrypted URL or password, because discarding the key would lose these values.</summary>
    public Task<int> CountSealedAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.ExecuteScalar<int>("SELECT count(*) FROM history_item WHERE url IS NOT NULL OR substr(password, 1, 7) = 'enc:v1:'"),
            cancellationToken);

    /// <summary>Counts releases from an old server with an encrypted password that no item has (<see cref="FindPasswordAsync"/>).</summary>
    public Task<int> CountSealedReleasesAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.ExecuteScalar<int>(
                """
                SELECT count(*) FROM release_opening o WHERE substr(o.password, 1, 7) = 'enc:v1:'
                  AND NOT EXISTS (SELECT 1 FROM history_item h WHERE h.release_id = o.release_id AND h.password <> '')
                """),
            cancellationToken);

    public Task<long> CountChangesAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.ExecuteScalar<long?>(SqlDialect.LastNumber("history_item")) ?? 0,
            cancellationToken);

    public Task<HistoryPage> FindPageAsync(HistoryFilter filter, int start, int limit, CancellationToken cancellationToken) =>
        database.ReadAsync(connection => FindPage(connection, filter, start, limit), cancellationToken);

    /// <summary>Streams the items of a page. Skips items removed in the meantime.</summary>
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

    /// <summary>Builds the query for a page. A costly condition is evaluated only once for count and page.</summary>
    internal static string PageSql(string where, bool isCostly)
    {
        // A cheap condition needs no copy, because the index is in this order and ends with the newest rows.
        var (with, from) = isCostly ? ($"WITH m AS MATERIALIZED (SELECT number FROM history_item {where})", "m") : ("", $"history_item {where}");
        return $"""
            {with}
            SELECT
              (SELECT count(*) FROM {from}) AS Matches,
              (SELECT {SqlDialect.Gather("number")} FROM (SELECT number FROM {from} ORDER BY number DESC LIMIT @Limit OFFSET @Start) page) AS Numbers
            """;
    }

    /// <summary>Builds the conditions for a filter. If there are no ids, an index covers all their columns.</summary>
    internal static (string Where, PageValues Values) Conditions(HistoryFilter filter, int start, int limit)
    {
        var conditions = new SqlFilter();
        if (filter.Nothing)
            conditions.Add(SqlDialect.Never);
        conditions.Add(filter.Archived switch
        {
            null => InBoth,
            true => InArchive,
            false => Shown,
        });
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

    /// <summary>Advances the change counter for polling clients if any rows changed.</summary>
    internal static int AdvanceChanges(DbConnection connection, int changed)
    {
        if (changed > 0)
            connection.Execute(SqlDialect.SkipNumber("history_item"));
        return changed;
    }

    internal static IReadOnlyList<EndedItem> FindEnded(DbConnection connection, string list) =>
    [
        .. connection.Query<EndedItem>(
            $"""
            SELECT folder AS Folder, release_folder AS ReleaseFolder, nzb_hash AS NzbHash, reason IS NULL AS IsCompleted, archived AS View
            FROM history_item WHERE {SqlDialect.In("number", "@list")}
            """,
            new { list }),
    ];

    private static HistoryPage FindPage(DbConnection connection, HistoryFilter filter, int start, int limit)
    {
        var (where, values) = Conditions(filter, start, limit);
        return FindBounds(connection, where, values) ?? connection.QuerySingle<HistoryPage>(PageSql(where, isCostly: values.Search is not null), values);
    }

    /// <summary>Reads a page between bounds, so that rows stream immediately. Null if too few of the rows between the bounds match.</summary>
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
        return page.First - page.Last <= rows * MaxScannedPerRow ? page with { Where = where } : null;
    }

    /// <summary>Parameters of a page query; null if not used.</summary>
    internal sealed record PageValues(string? Ids, string? Categories, string? Search, int Start, int Limit);
}
