using System.Text.Json;
using Dapper;
using Microsoft.Data.Sqlite;
using Sluice.Server.Database;

namespace Sluice.Server.Queue;

/// <summary>Reads and writes <c>queue_item</c>. The order is by priority, then by position.</summary>
internal sealed class QueueStore(SluiceDatabase database)
{
    /// <summary>Where the rows refer to stored NZBs.</summary>
    public static readonly BlobReference NzbReference = new("queue_item", "nzb_hash", "queue_item_nzb");

    private const string Columns =
        """
        id AS Id, name AS Name, nzb_name AS NzbName, category AS Category, folder AS Folder, priority AS Priority, paused AS Paused,
        password AS Password, post_processing AS PostProcessing, script AS Script, nzb_hash AS NzbHash, nzb_length AS NzbLength,
        encoded_bytes AS EncodedBytes, posted_at AS PostedMilliseconds, added_at AS AddedMilliseconds, properties AS Properties
        """;

    private const string Order = "priority DESC, position";

    /// <summary>Adds an item at the end of its band, as part of the caller's transaction.</summary>
    public static void Insert(SqliteConnection connection, QueueItem item) =>
        connection.Execute(
            """
            INSERT INTO queue_item
              (id, position, name, nzb_name, category, folder, priority, paused, password, post_processing, script, nzb_hash, nzb_length,
               encoded_bytes, posted_at, added_at)
            SELECT
              @Id, coalesce(max(position), 0) + 1, @Name, @NzbName, @Category, @Folder, @Priority, @Paused, @Password, @PostProcessing,
              @Script, @NzbHash, @NzbLength, @EncodedBytes, @PostedMilliseconds, @AddedMilliseconds
            FROM queue_item
            """,
            item);

    /// <summary>Removes an item as part of the caller's transaction.</summary>
    /// <returns>The item, or null when it was not there.</returns>
    public static QueueItem? Remove(SqliteConnection connection, string id) =>
        connection.QuerySingleOrDefault<QueueItem>($"DELETE FROM queue_item WHERE id = @id RETURNING {Columns}", new { id });

    /// <summary>Items whose NZB has been missing at an earlier start and still is, as part of the caller's transaction.</summary>
    /// <param name="connection">The caller's.</param>
    /// <param name="isStored">Whether the NZB of a hash is there by now.</param>
    public static IEnumerable<string> FindLost(SqliteConnection connection, Func<string, bool> isStored) =>
        connection
            .Query<(string Id, string Hash)>(
                """
                SELECT queue_item.id, lost_nzb.hash FROM lost_nzb JOIN queue_item ON nzb_hash = hash
                WHERE epoch < (SELECT max(epoch) FROM generation)
                """)
            .Where(item => !isStored(item.Hash))
            .Select(item => item.Id);

    /// <summary>How many items there are, as part of the caller's transaction.</summary>
    public static int Count(SqliteConnection connection) => connection.ExecuteScalar<int>("SELECT count(*) FROM queue_item");

    /// <summary>Whether a folder holds an item of this name, as part of the caller's transaction.</summary>
    public static bool Contains(SqliteConnection connection, string folder, string name) =>
        connection.ExecuteScalar<long>(
            "SELECT EXISTS (SELECT 1 FROM queue_item WHERE folder = @folder AND name = @name)", new { folder, name }) != 0;

    /// <summary>Whether an item refers to a stored NZB, as part of the caller's transaction.</summary>
    public static bool Uses(SqliteConnection connection, string nzbHash) =>
        connection.ExecuteScalar<long>("SELECT EXISTS (SELECT 1 FROM queue_item WHERE nzb_hash = @nzbHash)", new { nzbHash }) != 0;

    /// <summary>An item of the same bytes, name and category, as part of the caller's transaction; null when there is none.</summary>
    public static string? FindEqual(SqliteConnection connection, QueueItem item) =>
        connection.QueryFirstOrDefault<string>(
            "SELECT id FROM queue_item WHERE nzb_hash = @NzbHash AND nzb_name = @NzbName AND category = @Category",
            new { item.NzbHash, item.NzbName, item.Category });

    /// <summary>The file of a folder below <c>/nzbs</c> as part of the caller's transaction, or null.</summary>
    public static QueueItem? FindByName(SqliteConnection connection, string folder, string name) =>
        connection.QuerySingleOrDefault<QueueItem>(
            $"SELECT {Columns} FROM queue_item WHERE folder = @folder AND name = @name", new { folder, name });

    /// <summary>Whether an item is there, as part of the caller's transaction.</summary>
    public static bool Exists(SqliteConnection connection, string id) =>
        connection.ExecuteScalar<long>("SELECT EXISTS (SELECT 1 FROM queue_item WHERE id = @id)", new { id }) != 0;

    /// <summary>Gives an item a name that is free, a category and its folder, as part of the caller's transaction.</summary>
    public static void SetPlace(SqliteConnection connection, string id, string name, string category, string folder) =>
        connection.Execute(
            "UPDATE queue_item SET name = @name, nzb_name = @nzbName, category = @category, folder = @folder WHERE id = @id",
            new { id, name, nzbName = name + ".nzb", category, folder });

    /// <summary>Changes what clients have stored about an item.</summary>
    /// <param name="id">Which.</param>
    /// <param name="change">Gives the new text for the old one, or null to leave it; runs while nothing else is written.</param>
    /// <param name="cancellationToken">Counts until the change begins.</param>
    /// <returns>Whether the item is there.</returns>
    public Task<bool> ChangePropertiesAsync(string id, Func<string, string?> change, CancellationToken cancellationToken) =>
        database.WriteAsync(
            (connection, _) =>
            {
                var old = connection.QuerySingleOrDefault<string>("SELECT properties FROM queue_item WHERE id = @id", new { id });
                if (old is not null && change(old) is { } properties)
                    connection.Execute("UPDATE queue_item SET properties = @properties WHERE id = @id", new { id, properties });
                return old is not null;
            },
            cancellationToken);

    /// <summary>One item, or null.</summary>
    public Task<QueueItem?> FindAsync(string id, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.QuerySingleOrDefault<QueueItem>($"SELECT {Columns} FROM queue_item WHERE id = @id", new { id }),
            cancellationToken);

    /// <summary>The item of a name in a folder below <c>/nzbs</c>, or null.</summary>
    public Task<QueueItem?> FindByNameAsync(string folder, string name, CancellationToken cancellationToken) =>
        database.ReadAsync(connection => FindByName(connection, folder, name), cancellationToken);

    /// <summary>Folders below <c>/nzbs</c> that hold items, by name.</summary>
    public Task<IReadOnlyList<string>> ListFoldersAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<string>)[.. connection.Query<string>("SELECT DISTINCT folder FROM queue_item ORDER BY folder")],
            cancellationToken);

    /// <summary>The items of a folder below <c>/nzbs</c>, by the name of their file.</summary>
    public IAsyncEnumerable<QueueItem> ListFolderAsync(string folder, CancellationToken cancellationToken) =>
        database.StreamAsync(
            connection => connection
                .Query<QueueItem>($"SELECT {Columns} FROM queue_item WHERE folder = @folder ORDER BY name || '.nzb'", new { folder }, buffered: false),
            cancellationToken);

    /// <summary>The id of the next item to work on, or null.</summary>
    /// <param name="skip">Items that must not be started now.</param>
    /// <param name="cancellationToken">Counts until the query begins.</param>
    public Task<string?> FindNextAsync(Func<string, bool> skip, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection
                .Query<string>($"SELECT id FROM queue_item WHERE paused = 0 ORDER BY {Order}", buffered: false)
                .FirstOrDefault(id => !skip(id)),
            cancellationToken);

    /// <summary>Lets items wait, or no longer.</summary>
    public Task<int> SetPausedAsync(IReadOnlyList<string> ids, bool paused, CancellationToken cancellationToken) =>
        database.WriteAsync(
            (connection, _) => connection.Execute(
                "UPDATE queue_item SET paused = @paused WHERE id IN (SELECT value FROM json_each(@ids))",
                new { ids = JsonSerializer.Serialize(ids), paused = paused ? 1 : 0 }),
            cancellationToken);

    /// <summary>Keeps what reading the NZB told about the post.</summary>
    public Task SetPostAsync(string id, long encodedBytes, DateTimeOffset? postedAt, CancellationToken cancellationToken) =>
        database.WriteAsync(
            (connection, _) => connection.Execute(
                "UPDATE queue_item SET encoded_bytes = @encodedBytes, posted_at = @postedAt WHERE id = @id",
                new { id, encodedBytes, postedAt = postedAt?.ToUnixTimeMilliseconds() }),
            cancellationToken);

    /// <summary>Sums over the queue and how many items match.</summary>
    public Task<QueueTotals> GetTotalsAsync(QueueFilter filter, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection =>
            {
                var conditions = Conditions(connection, filter);
                var (items, bytes) = connection.QuerySingle<(long, long)>("SELECT count(*), coalesce(sum(encoded_bytes), 0) FROM queue_item");
                var matches = conditions.Where.Length == 0
                    ? items
                    : connection.ExecuteScalar<long>($"SELECT count(*) FROM queue_item {conditions.Where}", conditions.Parameters);
                return new QueueTotals((int)items, (int)matches, bytes);
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
                var conditions = Conditions(connection, filter);
                conditions.Parameters.Add("start", start);
                conditions.Parameters.Add("limit", limit == 0 ? -1 : limit);
                return connection
                    .Query<QueueItem>(
                        $"""
                        SELECT {Columns}, place AS "Index"
                        FROM (SELECT rowid AS number, row_number() OVER (ORDER BY {Order}) - 1 AS place FROM queue_item)
                        JOIN queue_item ON queue_item.rowid = number {conditions.Where}
                        ORDER BY place LIMIT @limit OFFSET @start
                        """,
                        conditions.Parameters,
                        buffered: false);
            },
            cancellationToken);

    private static SqlFilter Conditions(SqliteConnection connection, QueueFilter filter)
    {
        var conditions = new SqlFilter();
        conditions.AddList("id", filter.Ids);
        conditions.AddList("category", filter.Categories);
        conditions.AddList("priority", filter.Priorities?.Select(priority => (int)priority).ToList());
        conditions.AddSearch(connection, "name", filter.Search);
        if (filter.State is { } state)
        {
            conditions.Add(
                """
                (id IN (SELECT value FROM json_each(@running))
                 OR id NOT IN (SELECT value FROM json_each(@allRunning)) AND CASE paused WHEN 0 THEN @queued ELSE @pausedToo END)
                """);
            conditions.Parameters.Add("running", JsonSerializer.Serialize(state.Running));
            conditions.Parameters.Add("allRunning", JsonSerializer.Serialize(state.AllRunning));
            conditions.Parameters.Add("queued", state.Queued ? 1 : 0);
            conditions.Parameters.Add("pausedToo", state.Paused ? 1 : 0);
        }

        return conditions;
    }
}
