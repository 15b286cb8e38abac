using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Library;

namespace Sluice.Server.Queue;

/// <summary>Which queue items are asked for. Null lists and null search match everything.</summary>
internal sealed record QueueFilter
{
    /// <summary>Case-insensitive part of the name.</summary>
    public string? Search { get; init; }

    /// <summary>Ids.</summary>
    public IReadOnlyList<string>? Ids { get; init; }

    /// <summary>Stored categories, whatever their case.</summary>
    public IReadOnlyList<string>? Categories { get; init; }

    /// <summary>Priorities.</summary>
    public IReadOnlyList<QueuePriority>? Priorities { get; init; }

    /// <summary>States, or null for all.</summary>
    public QueueStateFilter? State { get; init; }
}

/// <summary>Items by state. Which items are worked on is known in memory, not in the rows.</summary>
/// <param name="Running">Items being worked on that match.</param>
/// <param name="AllRunning">Items being worked on, matching or not.</param>
/// <param name="Paused">Whether paused items match that are not worked on.</param>
/// <param name="Queued">Whether the others match that are not worked on.</param>
/// <param name="Grabbing">Whether of these those match whose NZB is still to be fetched.</param>
internal sealed record QueueStateFilter(
    IReadOnlyCollection<string> Running, IReadOnlyCollection<string> AllRunning, bool Paused, bool Queued, bool Grabbing = false);

/// <summary>Sums over the queue.</summary>
/// <param name="Items">Every item.</param>
/// <param name="Matches">Items that match the filter.</param>
/// <param name="EncodedBytes">Encoded size of every item.</param>
internal sealed record QueueTotals(int Items, int Matches, long EncodedBytes);

/// <summary>Reads and writes <c>queue_item</c>. The order is by priority, then by position.</summary>
internal sealed class QueueStore(SluiceDatabase database)
{
    /// <summary>Where the rows refer to stored NZBs.</summary>
    public static readonly BlobReference NzbReference = new("queue_item", "nzb_hash", "queue_item_nzb");

    /// <summary>What a row is read by.</summary>
    internal const string Columns =
        """
        id AS Id, name AS Name, nzb_name AS NzbName, category AS Category, folder AS Folder, priority AS Priority, paused AS Paused,
        password AS Password, post_processing AS PostProcessing, script AS Script, coalesce(nzb_hash, '') AS NzbHash, nzb_length AS NzbLength,
        encoded_bytes AS EncodedBytes, posted_at AS PostedMilliseconds, added_at AS AddedMilliseconds, url AS Url, fetch_tries AS FetchTries,
        named AS Named, retried AS Retried, files AS Files, segments AS Segments
        """;

    private const string Order = "priority DESC, position";

    /// <summary>Adds an item with the file that lists it, as part of the caller's transaction.</summary>
    public static void Insert(DbConnection connection, QueueItem item) =>
        Insert(connection, item, QueueFileStore.Insert(connection, QueueFile.Of(item)));

    /// <summary>
    /// Adds an item of a file at the end of its band, as part of the caller's transaction. Without a file (0) its NZB is still to be fetched.
    /// </summary>
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

    /// <summary>Removes an item as part of the caller's transaction, and with the last item of a file that file.</summary>
    /// <returns>The item, or null when it was not there.</returns>
    public static QueueItem? Remove(DbConnection connection, string id) => Remove(connection, "id = @Id", new Which { Id = id }).SingleOrDefault();

    /// <summary>Removes items as part of the caller's transaction, and with the last item of a file that file.</summary>
    /// <returns>Those that were there, in the order of their arrival.</returns>
    public static IReadOnlyList<QueueItem> Remove(DbConnection connection, IReadOnlyCollection<string> ids) =>
        Remove(connection, SqlDialect.In("id", "@List"), new Which { List = SqlDialect.List(ids) });

    /// <summary>
    /// Removes an item whose import has ended, as part of the caller's transaction. One that was paused a moment ago stays, so that nothing
    /// becomes of an item after it was seen as paused.
    /// </summary>
    /// <returns>The item, or null when it stays or was not there.</returns>
    public static QueueItem? Finish(DbConnection connection, string id) => Remove(connection, "id = @Id AND paused = 0", new Which { Id = id }).SingleOrDefault();

    /// <summary>Removes a file with all items that are left of it, as part of the caller's transaction.</summary>
    /// <returns>The items; none when the file was not there.</returns>
    public static IReadOnlyList<QueueItem> RemoveFile(DbConnection connection, string folder, string name) =>
        Remove(connection, "file = (SELECT id FROM queue_file WHERE folder = @Folder AND name = @Name)", new Which { Folder = folder, Name = name });

    /// <summary>The items of a file in the order of their arrival, as part of the caller's transaction.</summary>
    public static IReadOnlyList<QueueItem> ListFile(DbConnection connection, long file) =>
        [.. connection.Query<QueueItem>($"SELECT {Columns} FROM queue_item WHERE file = @file ORDER BY {SqlDialect.RowNumber}", new { file })];

    /// <summary>Items whose NZB has been missing at an earlier start and still is, as part of the caller's transaction.</summary>
    /// <param name="connection">The caller's.</param>
    /// <param name="isStored">Whether the NZB of a hash is there by now.</param>
    public static IEnumerable<string> FindLost(DbConnection connection, Func<string, bool> isStored) =>
        connection
            .Query<Lost>(
                """
                SELECT queue_item.id AS Id, lost_nzb.hash AS Hash FROM lost_nzb JOIN queue_item ON nzb_hash = hash
                WHERE epoch < (SELECT max(epoch) FROM generation)
                """)
            .Where(item => !isStored(item.Hash))
            .Select(item => item.Id);

    /// <summary>How many items there are, as part of the caller's transaction.</summary>
    public static int Count(DbConnection connection) => connection.ExecuteScalar<int>("SELECT count(*) FROM queue_item");

    /// <summary>Whether the release of an item, other than one, would have this name in a folder, as part of the caller's transaction.</summary>
    public static bool Contains(DbConnection connection, string folder, string name, string? except = null) =>
        connection.ExecuteScalar<bool>(
            "SELECT EXISTS (SELECT 1 FROM queue_item WHERE folder = @folder AND name = @name AND id IS DISTINCT FROM @except)",
            new { folder, name, except });

    /// <summary>Whether an item refers to a stored NZB, as part of the caller's transaction.</summary>
    public static bool Uses(DbConnection connection, string nzbHash) =>
        connection.ExecuteScalar<bool>("SELECT EXISTS (SELECT 1 FROM queue_item WHERE nzb_hash = @nzbHash)", new { nzbHash });

    /// <summary>An item of the same bytes, name and category, as part of the caller's transaction; null when there is none.</summary>
    /// <param name="connection">The caller's.</param>
    /// <param name="item">The item to compare with.</param>
    /// <param name="file">The file to which it belongs; null for any.</param>
    public static string? FindEqual(DbConnection connection, QueueItem item, long? file) =>
        connection.QueryFirstOrDefault<string>(
            """
            SELECT id FROM queue_item
            WHERE nzb_hash = @NzbHash AND nzb_name = @NzbName AND category = @Category AND file = coalesce(@file, file)
            """,
            new { item.NzbHash, item.NzbName, item.Category, file });

    /// <summary>Gives an item a name that is free, a category and its folder, and a password, as part of the caller's transaction.</summary>
    public static void SetPlace(DbConnection connection, QueueItem item) =>
        connection.Execute(
            """
            UPDATE queue_item SET name = @Name, folded = fold_text(@Name), nzb_name = @NzbName, category = @Category, folder = @Folder, password = @Password,
              named = @Named
            WHERE id = @Id
            """,
            item);

    /// <summary>One item, as part of the caller's transaction, or null.</summary>
    public static QueueItem? Find(DbConnection connection, string id) =>
        connection.QuerySingleOrDefault<QueueItem>($"SELECT {Columns} FROM queue_item WHERE id = @id", new { id });

    /// <summary>One item, or null.</summary>
    public Task<QueueItem?> FindAsync(string id, CancellationToken cancellationToken) =>
        database.ReadAsync(connection => Find(connection, id), cancellationToken);

    /// <summary>The id of the next item to work on, or null.</summary>
    /// <param name="least">The lowest priority of which items are started.</param>
    /// <param name="skip">Items that must not be started now.</param>
    /// <param name="cancellationToken">Counts until the query begins.</param>
    public Task<string?> FindNextAsync(QueuePriority least, Func<string, bool> skip, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection
                .Query<string>(
                    $"SELECT id FROM queue_item WHERE paused = 0 AND url IS NULL AND priority >= @least ORDER BY {Order}",
                    new { least },
                    buffered: false)
                .FirstOrDefault(id => !skip(id)),
            cancellationToken);

    /// <summary>The NZB of the item that was added last; null when there is none.</summary>
    public Task<DatedNzb?> FindNewestNzbAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.QueryFirstOrDefault<DatedNzb>(
                "SELECT nzb_hash AS Hash, added_at AS At FROM queue_item WHERE nzb_hash IS NOT NULL ORDER BY added_at DESC LIMIT 1"),
            cancellationToken);

    /// <summary>How many items have an address or an archive password that is sealed.</summary>
    public Task<int> CountSealedAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.ExecuteScalar<int>("SELECT count(*) FROM queue_item WHERE url IS NOT NULL OR substr(password, 1, 7) = 'enc:v1:'"),
            cancellationToken);

    /// <summary>Lets items wait, or no longer.</summary>
    public Task<int> SetPausedAsync(IReadOnlyList<string> ids, bool paused, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                $"UPDATE queue_item SET paused = @paused WHERE {SqlDialect.In("id", "@list")}",
                new { list = SqlDialect.List(ids), paused }),
            cancellationToken);

    /// <summary>Gives items a script.</summary>
    /// <returns>How many there are of them.</returns>
    public Task<int> SetScriptAsync(IReadOnlyList<string> ids, string script, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                $"UPDATE queue_item SET script = @script WHERE {SqlDialect.In("id", "@list")}", new { list = SqlDialect.List(ids), script }),
            cancellationToken);

    /// <summary>Tells of items how they are to be processed.</summary>
    /// <returns>How many there are of them.</returns>
    public Task<int> SetPostProcessingAsync(IReadOnlyList<string> ids, int postProcessing, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                $"UPDATE queue_item SET post_processing = @postProcessing WHERE {SqlDialect.In("id", "@list")}",
                new { list = SqlDialect.List(ids), postProcessing }),
            cancellationToken);

    /// <summary>Keeps what the NZB says about its post, unless the item has another NZB by now.</summary>
    public Task SetPostAsync(string id, string nzbHash, PostMeasure measure, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                "UPDATE queue_item SET encoded_bytes = @EncodedBytes, posted_at = @posted, files = @Files, segments = @Segments WHERE id = @id AND nzb_hash = @nzbHash",
                new { id, nzbHash, measure.EncodedBytes, posted = measure.PostedAt?.ToUnixTimeMilliseconds(), measure.Files, measure.Segments }),
            cancellationToken);

    /// <summary>The first item behind a row whose NZB has not been measured, or null.</summary>
    public Task<UnmeasuredItem?> FindUnmeasuredAsync(long after, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.QueryFirstOrDefault<UnmeasuredItem>(
                $"""
                SELECT {SqlDialect.RowNumber} AS Number, id AS Id, nzb_hash AS NzbHash FROM queue_item
                WHERE {SqlDialect.RowNumber} > @after AND files IS NULL AND nzb_hash IS NOT NULL ORDER BY {SqlDialect.RowNumber} LIMIT 1
                """,
                new { after }),
            cancellationToken);

    /// <summary>The encoded sizes of items in bytes; unknown ones are left out.</summary>
    public Task<IReadOnlyList<Size>> GetSizesAsync(IReadOnlyList<string> ids, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<Size>)
            [
                .. connection.Query<Size>(
                    $"SELECT id AS Id, encoded_bytes AS EncodedBytes FROM queue_item WHERE {SqlDialect.In("id", "@list")}",
                    new { list = SqlDialect.List(ids) }),
            ],
            cancellationToken);

    /// <summary>The ids of all matching items, in the order of the queue.</summary>
    public Task<IReadOnlyList<string>> FindIdsAsync(QueueFilter filter, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection =>
            {
                var (where, values) = Conditions(filter);
                return (IReadOnlyList<string>)[.. connection.Query<string>($"SELECT id FROM queue_item {where} ORDER BY {Order}", values)];
            },
            cancellationToken);

    /// <summary>Sums over the queue and how many items match.</summary>
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

    /// <summary>Matching items one by one, in the order of the queue.</summary>
    /// <param name="filter">Which.</param>
    /// <param name="start">How many to pass over.</param>
    /// <param name="limit">How many to give at most; 0 for all.</param>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    public IAsyncEnumerable<QueueItem> StreamAsync(QueueFilter filter, int start, int limit, CancellationToken cancellationToken) =>
        database.StreamAsync(
            connection =>
            {
                var (where, values) = Conditions(filter, start, limit == 0 ? int.MaxValue : limit);
                // Without a condition the index gives the page and the places follow from it.
                return where.Length == 0
                    ? connection
                        .Query<QueueItem>($"SELECT {Columns} FROM queue_item ORDER BY {Order} LIMIT @Limit OFFSET @Start", values, buffered: false)
                        .Select((item, at) => item with { Index = start + at })
                    : connection.Query<QueueItem>(MatchesSql(where), values, buffered: false);
            },
            cancellationToken);

    /// <summary>The query of a page of matches: the places of all items are counted, and only the rows of the page are read whole.</summary>
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
        // A query before the removal: a trigger removes the file with the row, and RETURNING must not depend on which goes first.
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

    /// <summary>Names an item by its id, or a file by its place.</summary>
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

    /// <summary>The parameters of a list; null for a condition that it does not have.</summary>
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
