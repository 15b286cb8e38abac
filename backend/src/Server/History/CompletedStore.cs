using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Outbound;

namespace Sluice.Server.History;

/// <summary>The folders in which clients find completed items (SAB-42). Each item has its own folder, so deleting one never affects another.</summary>
/// <remarks>A returned release has the name of its item's folder and the item's completion time.</remarks>
internal sealed class CompletedStore(SluiceDatabase database, RcloneNotifier rclone)
{
    private const string IsShown = "h.archived = 0 AND h.reason IS NULL AND h.release_id IS NOT NULL";

    /// <summary>Finds the entry at a path in an item's folder, using only index lookups. If several items share a folder, the newest counts.</summary>
    internal const string FindSql =
        $"""
        SELECT r.id AS ReleaseId, r.category AS Category, h.release_folder AS Release, r.nzb_hash AS NzbHash, h.completed_at AS PublishedAt,
          {LibraryStore.FoundColumns}
        FROM history_item h JOIN release r ON r.id = h.release_id {LibraryStore.JoinFound}
        WHERE h.folder = @category AND h.release_folder = @release AND {IsShown}
        ORDER BY h.number DESC LIMIT 1
        """;

    /// <summary>
    /// Whether a client could mistake this folder for another item's folder. Includes items whose release was removed or refused, because clients still know
    /// their path. Includes <c>.strm</c> files of other releases, because they outlive the archiving of an item. Runs in the caller's transaction.
    /// </summary>
    /// <param name="release">The new item's release, whose <c>.strm</c> files may be replaced; 0 for none.</param>
    /// <param name="itemId">An item to ignore in the check.</param>
    public static bool IsClaimed(DbConnection connection, string category, string folder, long release, string itemId) =>
        connection.ExecuteScalar<bool>(
            """
            SELECT EXISTS (
              SELECT 1 FROM history_item h WHERE h.folder = @category AND h.release_folder = @folder AND h.release_folder <> '' AND h.id <> @itemId
                AND (h.archived = 0 OR (h.strm_root <> '' AND h.release_id IS DISTINCT FROM @release)))
            """,
            new { category = PathKey.OfName(category), folder = PathKey.OfName(folder), release, itemId })
        || Contains(connection, category, folder);

    /// <summary>Whether any item has this folder, including items whose removal can still be undone. Runs in the caller's transaction.</summary>
    public static bool Contains(DbConnection connection, string category, string folder) =>
        connection.ExecuteScalar<bool>(
            $"""
            SELECT EXISTS (SELECT 1 FROM history_item h WHERE h.folder = @category AND h.release_folder = @folder AND {IsShown})
              OR EXISTS (SELECT 1 FROM removed_history_item WHERE folder = @category AND release_folder = @folder)
            """,
            new { category = PathKey.OfName(category), folder = PathKey.OfName(folder) });

    /// <summary>Finds the entry at a path inside a category folder, or null. One query at any depth.</summary>
    /// <param name="release">Folder of the item.</param>
    /// <param name="folder">Path inside the release, taken as a folder; empty for the release itself.</param>
    /// <param name="file">The same path, taken as a library file; null if it cannot be a file.</param>
    /// <param name="cancellationToken">Cancels only until the query starts.</param>
    public Task<LibraryEntry?> FindAsync(
        string category, string release, IReadOnlyList<string> folder, IReadOnlyList<string>? file, CancellationToken cancellationToken)
    {
        var key = file is null ? null : PathKey.OfNames(file);
        return database.ReadAsync(
            connection => LibraryStore.Find(connection, FindSql, category, release, PathKey.OfNames(folder), key), cancellationToken);
    }

    /// <summary>Returns the newest item under which clients find a release, as links or <c>.strm</c> files; null if there is none.</summary>
    public Task<HistoryItem?> FindItemAsync(long releaseId, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.QueryFirstOrDefault<HistoryItem>(
                $"""
                SELECT {HistoryStore.Columns} FROM history_item
                WHERE release_id = @releaseId AND reason IS NULL AND (archived = 0 OR strm_root <> '') ORDER BY archived, number DESC LIMIT 1
                """,
                new { releaseId }),
            cancellationToken);

    /// <summary>Lists the category folders that contain completed items by name, each with its newest completion time.</summary>
    public Task<IReadOnlyList<CategoryEntry>> ListCategoriesAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<CategoryEntry>)
            [
                .. connection
                    .Query<CategoryRow>($"SELECT h.folder AS Name, max(h.completed_at) AS Newest FROM history_item h WHERE {IsShown} GROUP BY h.folder ORDER BY h.folder")
                    .Select(row => row.Read()),
            ],
            cancellationToken);

    /// <summary>Returns the completion time of the newest item in a category; null if there are none.</summary>
    public Task<DateTimeOffset?> FindNewestAsync(string category, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.ExecuteScalar<long?>(
                $"SELECT max(h.completed_at) FROM history_item h WHERE h.folder = @category AND {IsShown}",
                new { category = PathKey.OfName(category) }) is { } newest
                ? StoredTime.Read(newest)
                : (DateTimeOffset?)null,
            cancellationToken);

    public IAsyncEnumerable<ReleaseEntry> ListReleasesAsync(string category, CancellationToken cancellationToken) =>
        database.StreamAsync(
            connection => connection
                .Query<LibraryRow>(
                    $"""
                    SELECT r.id AS ReleaseId, r.category AS Category, h.release_folder AS Release, r.nzb_hash AS NzbHash, max(h.completed_at) AS PublishedAt
                    FROM history_item h JOIN release r ON r.id = h.release_id
                    WHERE h.folder = @category AND {IsShown} GROUP BY h.release_folder ORDER BY h.release_folder
                    """,
                    new { category = PathKey.OfName(category) },
                    buffered: false)
                .Select(row => new ReleaseEntry(row.ToRelease())),
            cancellationToken);

    /// <summary>Records that a client has imported a link, or the folder of a release.</summary>
    public async Task TakeAsync(Release folder, CancellationToken cancellationToken)
    {
        // Skip the write if the release is already marked, because nearly every import deletes several links.
        if (await database.ReadAsync(connection => ReleaseClaims.IsTaken(connection, folder.Id), cancellationToken))
            return;
        await database.WriteAsync(connection => ReleaseClaims.Take(connection, folder.Id), cancellationToken);
    }

    /// <summary>Marks items with a release as completed if clients can see them, so that their links appear. Returns whether any item changed.</summary>
    public async Task<bool> CompleteAsync(IReadOnlyCollection<string> ids, CancellationToken cancellationToken)
    {
        var completed = await database.WriteAsync(
            connection =>
            {
                List<ItemFolder> folders =
                [
                    .. connection.Query<ItemFolder>(
                        $"""
                        UPDATE history_item SET reason = NULL, fail_message = '' WHERE release_id IS NOT NULL AND archived < 2 AND {SqlDialect.In("id", "@list")}
                        RETURNING folder AS Folder, release_folder AS ReleaseFolder
                        """,
                        new { list = SqlDialect.List(ids) }),
                ];
                HistoryStore.AdvanceChanges(connection, folders.Count);
                return folders;
            },
            cancellationToken);
        foreach (var item in completed)
            rclone.ReleaseChanged(item.Folder, item.ReleaseFolder);
        return completed.Count > 0;
    }

    /// <summary>Archives the items that have this folder, and keeps the release. Returns false if there are none.</summary>
    public async Task<bool> ArchiveAsync(Release folder, CancellationToken cancellationToken)
    {
        var isArchived = await database.WriteAsync(
            connection => HistoryStore.AdvanceChanges(
                connection,
                connection.Execute(
                    $"UPDATE history_item AS h SET archived = 1 WHERE h.folder = @Category AND h.release_folder = @Name AND {IsShown}",
                    new { folder.Category, folder.Name })) > 0,
            cancellationToken);
        if (isArchived)
            rclone.ReleaseChanged(folder.Category, folder.Name);
        return isArchived;
    }
}
