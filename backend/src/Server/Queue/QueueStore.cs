using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Library;

namespace Sluice.Server.Queue;

/// <summary>Filter of the SABnzbd API. Null matches everything.</summary>
internal sealed record QueueFilter
{
    /// <summary>Part of the name, ignoring case.</summary>
    public string? Search { get; init; }

    public IReadOnlyList<string>? Ids { get; init; }

    /// <summary>Categories, ignoring case.</summary>
    public IReadOnlyList<string>? Categories { get; init; }

    public IReadOnlyList<QueuePriority>? Priorities { get; init; }
    public QueueStateFilter? State { get; init; }
}

/// <summary>Filters by state. Includes the ids of running items, because the rows do not store them.</summary>
/// <param name="Running">Ids of the running items whose state matches.</param>
/// <param name="Grabbing">Whether items with an unfetched NZB match.</param>
internal sealed record QueueStateFilter(
    IReadOnlyCollection<string> Running, IReadOnlyCollection<string> AllRunning, bool Paused, bool Queued, bool Grabbing = false);

/// <summary>Totals of the queue.</summary>
/// <param name="EncodedBytes">Encoded bytes of all items.</param>
internal sealed record QueueTotals(int Items, int Matches, long EncodedBytes);

/// <summary>Stores <c>queue_item</c>, ordered by priority, then by position.</summary>
internal sealed class QueueStore(SluiceDatabase database)
{
    public static readonly BlobReference NzbReference = new("queue_item", "nzb_hash", "queue_item_nzb");

    internal const string Columns =
        """
        id AS Id, name AS Name, nzb_name AS NzbName, category AS Category, folder AS Folder, priority AS Priority, paused AS Paused,
        password AS Password, post_processing AS PostProcessing, script AS Script, coalesce(nzb_hash, '') AS NzbHash, nzb_length AS NzbLength,
        encoded_bytes AS EncodedBytes, posted_at AS PostedMilliseconds, added_at AS AddedMilliseconds, url AS Url, fetch_tries AS FetchTries,
        named AS Named, retried AS Retried, files AS Files, segments AS Segments
        """;

    private const string Order = "priority DESC, position";

    /// <summary>Adds an item and its file, in the caller's transaction.</summary>
    public static void Insert(DbConnection connection, QueueItem item) =>
        Insert(connection, item, QueueFileStore.InsertFor(connection, item));

    /// <summary>Adds an item at the end of its priority, in the caller's transaction. <paramref name="file"/> is 0 if the NZB is still to be fetched.</summary>
    public static void Insert(DbConnection connection, QueueItem item, long file) =>
        connection.Execute(
            """
            INSERT INTO queue_item
              (id, file, position, name, nzb_name, category, folder, priority, paused, password, post_processing, script, nzb_hash, nzb_length,
               encoded_bytes, posted_at, added_at, url, named, retried, folded, files, segments)
            SELECT
              @Id, nullif(@File, 0), coalesce(max(position), 0) + 1, @Name, @NzbName, @Category, @Folder, @Priority, @Paused, @Password,
              @PostProcessing, @Script, nullif(@NzbHash, ''), @NzbLength, @EncodedBytes, @PostedMilliseconds, @AddedMilliseconds, @Url, @Named, @Retried,
              fold_text(@Name), @Files, @Segments
            FROM queue_item
            """,
            item with { File = file });

    /// <summary>Removes and returns an item, or null, in the caller's transaction. A trigger removes its file with the last item.</summary>
    public static QueueItem? Remove(DbConnection connection, string id) => Remove(connection, "id = @Id", new Which { Id = id }).SingleOrDefault();

    /// <summary>Removes items in the caller's transaction and returns them by arrival. A trigger removes each file with its last item.</summary>
    public static IReadOnlyList<QueueItem> Remove(DbConnection connection, IReadOnlyCollection<string> ids) =>
        Remove(connection, SqlDialect.In("id", "@List"), new Which { List = SqlDialect.List(ids) });

    /// <summary>Removes an imported item in the caller's transaction. Keeps a paused item, because a client that paused it must not see it complete.</summary>
    /// <returns>The removed item; null if paused or unknown.</returns>
    public static QueueItem? Finish(DbConnection connection, string id) => Remove(connection, "id = @Id AND paused = 0", new Which { Id = id }).SingleOrDefault();

    /// <summary>Removes a file with its remaining items, in the caller's transaction. Returns the items; empty if there is no such file.</summary>
    public static IReadOnlyList<QueueItem> RemoveFile(DbConnection connection, string folder, string name) =>
        Remove(connection, "file = (SELECT id FROM queue_file WHERE folder = @Folder AND name = @Name)", new Which { Folder = folder, Name = name });

    /// <summary>Returns the items of a file in the order they were added.</summary>
    public static IReadOnlyList<QueueItem> ListFile(DbConnection connection, long file) =>
        [.. connection.Query<QueueItem>($"SELECT {Columns} FROM queue_item WHERE file = @file ORDER BY {SqlDialect.RowNumber}", new { file })];

    /// <summary>Returns the items whose NZB was already missing at an earlier startup and is still missing.</summary>
    /// <param name="isStored">Whether the NZB with a hash is stored.</param>
    public static IEnumerable<string> FindLost(DbConnection connection, Func<string, bool> isStored) =>
        connection
            .Query<Lost>(
                """
                SELECT queue_item.id AS Id, lost_nzb.hash AS Hash FROM lost_nzb JOIN queue_item ON nzb_hash = hash
                WHERE epoch < (SELECT max(epoch) FROM generation)
                """)
            .Where(item => !isStored(item.Hash))
            .Select(item => item.Id);

    public static int Count(DbConnection connection) => connection.ExecuteScalar<int>("SELECT count(*) FROM queue_item");

    /// <summary>Whether another item in a folder has this name.</summary>
    public static bool Contains(DbConnection connection, string folder, string name, string? except = null) =>
        connection.ExecuteScalar<bool>(
            "SELECT EXISTS (SELECT 1 FROM queue_item WHERE folder = @folder AND name = @name AND id IS DISTINCT FROM @except)",
            new { folder, name, except });

    public static bool Uses(DbConnection connection, string nzbHash) =>
        connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM queue_item WHERE nzb_hash = @nzbHash)", new { nzbHash });

    /// <summary>Finds an item with the same content, name and category.</summary>
    /// <param name="file">Row of the file to search; null for all.</param>
    public static string? FindEqual(DbConnection connection, QueueItem item, long? file) =>
        connection.QueryFirstOrDefault<string>(
            """
            SELECT id FROM queue_item
            WHERE nzb_hash = @NzbHash AND nzb_name = @NzbName AND category = @Category AND file = coalesce(@file, file)
            """,
            new { item.NzbHash, item.NzbName, item.Category, file });

    /// <summary>Stores an item's name, category, folder and password.</summary>
    public static void SetPlace(DbConnection connection, QueueItem item) =>
        connection.Execute(
            """
            UPDATE queue_item SET name = @Name, folded = fold_text(@Name), nzb_name = @NzbName, category = @Category, folder = @Folder, password = @Password,
              named = @Named
            WHERE id = @Id
            """,
            item);

    public static QueueItem? Find(DbConnection connection, string id) =>
        connection.QuerySingleOrDefault<QueueItem>($"SELECT {Columns} FROM queue_item WHERE id = @id", new { id });

    public Task<QueueItem?> FindAsync(string id, CancellationToken cancellationToken) =>
        database.ReadAsync(connection => Find(connection, id), cancellationToken);

    /// <summary>Finds the next item to start.</summary>
    /// <param name="skip">Returns whether an item must not start now.</param>
    public Task<string?> FindNextAsync(QueuePriority least, Func<string, bool> skip, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection
                .Query<string>(
                    $"SELECT id FROM queue_item WHERE paused = 0 AND url IS NULL AND priority >= @least ORDER BY {Order}",
                    new { least },
                    buffered: false)
                .FirstOrDefault(id => !skip(id)),
            cancellationToken);

    public Task<DatedNzb?> FindNewestNzbAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.QueryFirstOrDefault<DatedNzb>(
                "SELECT nzb_hash AS Hash, added_at AS At FROM queue_item WHERE nzb_hash IS NOT NULL ORDER BY added_at DESC LIMIT 1"),
            cancellationToken);

    /// <summary>Counts items with an encrypted address or archive password.</summary>
    public Task<int> CountSealedAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.ExecuteScalar<int>("SELECT count(*) FROM queue_item WHERE url IS NOT NULL OR substr(password, 1, 7) = 'enc:v1:'"),
            cancellationToken);

    public Task<int> SetPausedAsync(IReadOnlyList<string> ids, bool paused, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                $"UPDATE queue_item SET paused = @paused WHERE {SqlDialect.In("id", "@list")}",
                new { list = SqlDialect.List(ids), paused }),
            cancellationToken);

    /// <returns>How many of these items are in the queue.</returns>
    public Task<int> SetScriptAsync(IReadOnlyList<string> ids, string script, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                $"UPDATE queue_item SET script = @script WHERE {SqlDialect.In("id", "@list")}", new { list = SqlDialect.List(ids), script }),
            cancellationToken);

    /// <returns>How many of these items are in the queue.</returns>
    public Task<int> SetPostProcessingAsync(IReadOnlyList<string> ids, int postProcessing, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                $"UPDATE queue_item SET post_processing = @postProcessing WHERE {SqlDialect.In("id", "@list")}",
                new { list = SqlDialect.List(ids), postProcessing }),
            cancellationToken);

    /// <summary>Stores the measure of an NZB, unless the item now has a different NZB.</summary>
    public Task SetPostAsync(string id, string nzbHash, PostMeasure measure, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                "UPDATE queue_item SET encoded_bytes = @EncodedBytes, posted_at = @posted, files = @Files, segments = @Segments WHERE id = @id AND nzb_hash = @nzbHash",
                new { id, nzbHash, measure.EncodedBytes, posted = measure.PostedAt?.ToUnixTimeMilliseconds(), measure.Files, measure.Segments }),
            cancellationToken);

    /// <summary>Finds the next unmeasured item after a row number.</summary>
    public Task<UnmeasuredItem?> FindUnmeasuredAsync(long after, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.QueryFirstOrDefault<UnmeasuredItem>(
                $"""
                SELECT {SqlDialect.RowNumber} AS Number, id AS Id, nzb_hash AS NzbHash FROM queue_item
                WHERE {SqlDialect.RowNumber} > @after AND files IS NULL AND nzb_hash IS NOT NULL ORDER BY {SqlDialect.RowNumber} LIMIT 1
                """,
                new { after }),
            cancellationToken);

    /// <summary>Returns encoded sizes in bytes. Unknown ids are skipped.</summary>
    public Task<IReadOnlyList<Size>> GetSizesAsync(IReadOnlyList<string> ids, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<Size>)
            [
                .. connection.Query<Size>(
                    $"SELECT id AS Id, encoded_bytes AS EncodedBytes FROM queue_item WHERE {SqlDialect.In("id", "@list")}",
                    new { list = SqlDialect.List(ids) }),
            ],
            cancellationToken);

    /// <summary>Returns the ids of matching items in queue order.</summary>
    public Task<IReadOnlyList<string>> FindIdsAsync(QueueFilter filter, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection =>
            {
                var (where, values) = Conditions(filter);
                return (IReadOnlyList<string>)[.. connection.Query<string>($"SELECT id FROM queue_item {where} ORDER BY {Order}", values)];
            },
            cancellationToken);

    public Task<QueueTotals> GetTotalsAsync(QueueFilter filter, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection =>
            {
                var (where, values) = Conditions(filter);
                var all = connection.QuerySingle<Sums>("SELECT count(*) AS Items, coalesce(sum(encoded_bytes), 0) AS EncodedBytes FROM queue_item");
                var matches = where.Length == 0 ? all.Items : connection.ExecuteScalar<long>($"SELECT count(*) FROM queue_item {where}", values);
                return new QueueTotals((int)all.Items, (int)matches, all.EncodedBytes);
            },
            cancellationToken);

    /// <summary>Streams matching items in queue order.</summary>
    /// <param name="limit">Maximum number of items; 0 for all.</param>
    public IAsyncEnumerable<QueueItem> StreamAsync(QueueFilter filter, int start, int limit, CancellationToken cancellationToken) =>
        database.StreamAsync(
            connection =>
            {
                var (where, values) = Conditions(filter, start, limit == 0 ? int.MaxValue : limit);
                // Without a filter, the index yields the page, and each position follows from the offset.
                return where.Length == 0
                    ? connection
                        .Query<QueueItem>($"SELECT {Columns} FROM queue_item ORDER BY {Order} LIMIT @Limit OFFSET @Start", values, buffered: false)
                        .Select((item, at) => item with { Index = start + at })
                    : connection.Query<QueueItem>(MatchesSql(where), values, buffered: false);
            },
            cancellationToken);

    /// <summary>Query for a page of matches. Counts positions over all items, but reads whole rows only for the page.</summary>
    private static string MatchesSql(string where) =>
        $"""
        SELECT {Columns}, place AS "Index"
        FROM (
          SELECT number, place
          FROM (SELECT {SqlDialect.RowNumber} AS number, row_number() OVER (ORDER BY {Order}) - 1 AS place FROM queue_item) places
          JOIN queue_item ON queue_item.{SqlDialect.RowNumber} = number {where}
          ORDER BY place LIMIT @Limit OFFSET @Start
        ) page
        JOIN queue_item ON queue_item.{SqlDialect.RowNumber} = number
        ORDER BY place
        """;

    private static List<QueueItem> Remove(DbConnection connection, string condition, Which which)
    {
        // Query before deleting, because a trigger deletes the file and RETURNING must not depend on its timing.
        List<QueueItem> items =
        [
            .. connection.Query<QueueItem>(
                $"""
                SELECT {Columns}, (SELECT hash FROM queue_file f WHERE f.id = file AND f.packed = 1) AS RawHash
                FROM queue_item WHERE {condition} ORDER BY {SqlDialect.RowNumber}
                """,
                which),
        ];
        if (items.Count > 0)
            connection.Execute($"DELETE FROM queue_item WHERE {condition}", which);
        return items;
    }

    private static (string Where, ListValues Values) Conditions(QueueFilter filter, int start = 0, int limit = 0)
    {
        var conditions = new SqlFilter();
        var values = new ListValues
        {
            Ids = conditions.AddList("id", "@Ids", filter.Ids),
            Categories = conditions.AddAnyCase("category", "@Categories", filter.Categories),
            Priorities = conditions.AddList("priority", "@Priorities", filter.Priorities?.Select(priority => (int)priority).ToList()),
            Search = conditions.AddSearch("name", "@Search", filter.Search),
            Start = start,
            Limit = limit,
        };
        if (filter.State is { } state)
        {
            conditions.Add(
                $"""
                ({SqlDialect.In("id", "@Running")}
                 OR NOT {SqlDialect.In("id", "@AllRunning")} AND CASE WHEN paused <> 0 THEN @PausedToo WHEN url IS NULL THEN @Queued ELSE @Grabbing END)
                """);
            values = values with
            {
                Running = SqlDialect.List(state.Running),
                AllRunning = SqlDialect.List(state.AllRunning),
                Queued = state.Queued,
                Grabbing = state.Grabbing,
                PausedToo = state.Paused,
            };
        }

        return (conditions.Where, values);
    }

    /// <summary>Parameters of a removal: by item id or by file.</summary>
    internal sealed record Which
    {
        public string? Id { get; init; }
        public string? List { get; init; }
        public string? Folder { get; init; }
        public string? Name { get; init; }
    }

    internal sealed record Lost(string Id, string Hash);

    internal sealed record Size(string Id, long EncodedBytes);

    internal sealed record UnmeasuredItem(long Number, string Id, string NzbHash);

    internal sealed record Sums(long Items, long EncodedBytes);

    /// <summary>Parameters of a listing. Null for unused conditions.</summary>
    internal sealed record ListValues
    {
        public string? Ids { get; init; }
        public string? Categories { get; init; }
        public string? Priorities { get; init; }
        public string? Search { get; init; }
        public string? Running { get; init; }
        public string? AllRunning { get; init; }
        public bool Queued { get; init; }
        public bool Grabbing { get; init; }
        public bool PausedToo { get; init; }
        public int Start { get; init; }
        public int Limit { get; init; }
    }
}
