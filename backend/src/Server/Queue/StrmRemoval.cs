using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Library;

namespace Sluice.Server.Queue;

/// <summary>
/// Deletes the <c>.strm</c> files of removed films, and writes them again for restored films (HLT-60, HLT-61). Each file is recorded in a row before it is
/// deleted, so neither a crash nor an undo in between loses it. Files that a program has moved have no row and are not restored.
/// </summary>
/// <remarks>Only one call may run at a time, so that a file is never deleted and written at the same time.</remarks>
internal sealed class StrmRemoval(SluiceDatabase database, StrmLinks links, ILogger<StrmRemoval> logger)
{
    private const int PerTransaction = 200;

    /// <summary>Deletes and writes all due files.</summary>
    /// <returns>Whether something failed or its root folder is missing, so that a later call must retry.</returns>
    public async Task<bool> SettleAsync(CancellationToken stopping)
    {
        // Without the key, the URLs are unknown. The next restart or removal retries.
        if (links.IsLocked)
            return false;
        var isLeft = await DeleteAsync(stopping);
        return await RestoreAsync(stopping) || isLeft;
    }

    private async Task<bool> DeleteAsync(CancellationToken stopping)
    {
        var (missing, failures, after) = (0, new Failures(), 0L);
        while (await database.ReadAsync(connection => RemovedStrmStore.FindRemoved(connection, after, PerTransaction), stopping) is { Count: > 0 } items)
        {
            after = items[^1].Number;
            var (found, searched) = (new List<FoundStrm>(), new HashSet<StrmFolder>());
            foreach (var item in items)
            {
                var ids = item.Files.ToDictionary(file => links.LinkOf(Guid.Parse(file.Id), file.Path), file => file.Id);
                foreach (var folder in item.Folders)
                {
                    // The share is not mounted, but still has the files.
                    if (!Directory.Exists(folder.Root))
                        missing++;
                    else if (failures.Try(folder.Name, () => found.AddRange(StrmLinks.Find(folder, ids))))
                        searched.Add(folder);
                }
            }

            await DeleteAsync(found, searched, failures, stopping);
        }

        if (failures.Count > 0)
            QueueLog.StrmNotDeleted(logger, failures.Name, failures.Count - 1, failures.Cause);
        return failures.Count + missing > 0;
    }

    private async Task DeleteAsync(List<FoundStrm> found, HashSet<StrmFolder> done, Failures failures, CancellationToken stopping)
    {
        if (found.Count > 0)
        {
            // Films restored since the search keep their files.
            var removed = await database.WriteAsync(connection => RemovedStrmStore.Record(connection, found), stopping);
            Failpoint.Reach("files-strm-recorded");
            foreach (var file in found.Where(file => removed.Contains(file.FileId)))
            {
                if (!failures.Try(file.Folder.Name, () => File.Delete(file.Path)))
                    done.Remove(file.Folder);
            }

            Failpoint.Reach("files-strm-deleted");
        }

        done.RemoveWhere(folder => !failures.Try(folder.Name, () => StrmLinks.DeleteEmpty(folder)));
        if (done.Count > 0)
            await database.WriteAsync(connection => RemovedStrmStore.DropFolders(connection, done), stopping);
    }

    private async Task<bool> RestoreAsync(CancellationToken stopping)
    {
        var (missing, failures) = (0, new Failures());
        RestoredStrm? last = null;
        while (await database.ReadAsync(connection => RemovedStrmStore.FindRestored(connection, last, PerTransaction), stopping) is { Count: > 0 } page)
        {
            last = page[^1];
            var done = new List<RestoredStrm>();
            foreach (var file in page)
            {
                if (!Directory.Exists(file.Root))
                    missing++;
                else if (await failures.TryAsync(file.Release, () => WriteAsync(file, stopping)))
                    done.Add(file);
            }

            Failpoint.Reach("files-strm-restored");
            if (done.Count > 0)
                await database.WriteAsync(connection => RemovedStrmStore.DropRestored(connection, done), stopping);
        }

        if (failures.Count > 0)
            QueueLog.StrmNotRestored(logger, failures.Name, failures.Count - 1, failures.Cause);
        return failures.Count + missing > 0;
    }

    private Task WriteAsync(RestoredStrm file, CancellationToken cancellationToken)
    {
        var (id, path) = (Guid.Parse(file.FileId), PathKey.ToPath(file.PathKey));
        // Append a number if another file has the name now. A file with this content comes from an interrupted call.
        var free = ReleaseName.FindFree(Path.ChangeExtension(file.Path, null), name => StrmLinks.IsOccupied(name + CompleteFolder.StrmExtension, links.LinkOf(id, path)));
        return links.WriteAsync(file.Root, free + CompleteFolder.StrmExtension, links.AddressOf(id, path), cancellationToken);
    }

    /// <summary>Counts failures, because a single log line covers them all.</summary>
    private sealed class Failures
    {
        private readonly HashSet<string> _releases = [];

        /// <summary>Number of releases.</summary>
        public int Count => _releases.Count;

        /// <summary>The first release.</summary>
        public string Name { get; private set; } = "";

        public string Cause { get; private set; } = "";

        public bool Try(string release, Action call)
        {
            try
            {
                call();
                return true;
            }
            catch (Exception e) when (IsFault(e))
            {
                Add(release, e);
                return false;
            }
        }

        public async Task<bool> TryAsync(string release, Func<Task> call)
        {
            try
            {
                await call();
                return true;
            }
            catch (Exception e) when (IsFault(e))
            {
                Add(release, e);
                return false;
            }
        }

        private static bool IsFault(Exception e) => e is IOException or UnauthorizedAccessException or StorageException;

        private void Add(string release, Exception failure)
        {
            if (_releases.Count == 0)
                (Name, Cause) = (release, failure.Message);
            _releases.Add(release);
        }
    }
}

/// <summary>A removed item whose folders have not all been searched.</summary>
internal sealed record UnsearchedItem(long Number, IReadOnlyList<StrmFolder> Folders, IReadOnlyList<ListedFile> Files);

/// <summary>A <c>.strm</c> file to write again. <c>Path</c> is absolute.</summary>
internal sealed record RestoredStrm(string FileId, string Root, string Path, string PathKey, string Release);

/// <summary>The rows of <see cref="StrmRemoval"/>. All methods run in the caller's transaction.</summary>
internal static class RemovedStrmStore
{
    /// <summary>Adds the folders of a new removal: the folders of its history items, and the usual ones, because history items may have expired.</summary>
    public static void AddFolders(DbConnection connection, long removal, IReadOnlyList<string> roots)
    {
        connection.Execute(
            """
            INSERT INTO removed_strm_folder (item, root, category, name)
            SELECT i.number, h.strm_root, h.folder, h.release_folder FROM removed_item i JOIN history_item h ON h.release_id = i.release_id
            WHERE i.removal = @removal AND h.strm_root <> ''
            UNION SELECT i.number, h.strm_root, h.folder, h.release_folder FROM removed_item i JOIN removed_history_item h ON h.release_id = i.release_id
            WHERE i.removal = @removal AND h.strm_root <> ''
            """,
            new { removal });
        foreach (var root in roots)
        {
            connection.Execute(
                "INSERT INTO removed_strm_folder (item, root, category, name) SELECT number, @root, category, name FROM removed_item WHERE removal = @removal ON CONFLICT DO NOTHING",
                new { removal, root });
        }
    }

    /// <summary>Returns removed items with folders, in order.</summary>
    /// <param name="after">Number of the last item on the previous page.</param>
    public static IReadOnlyList<UnsearchedItem> FindRemoved(DbConnection connection, long after, int most)
    {
        var folders = connection.Query<StrmFolder>(
            """
            SELECT item AS Item, root AS Root, category AS Category, name AS Name FROM removed_strm_folder
            WHERE item IN (SELECT DISTINCT item FROM removed_strm_folder WHERE item > @after ORDER BY item LIMIT @most)
            """,
            new { after, most }).ToLookup(folder => folder.Item);
        var files = connection.Query<UnsearchedFile>(
            $"SELECT item AS Item, id AS Id, path_key AS PathKey, length AS Length FROM removed_library_file WHERE {SqlDialect.In("item", "@items")}",
            new { items = SqlDialect.List(folders.Select(item => item.Key).ToList()) }).ToLookup(file => file.Item);
        return
        [
            .. folders.OrderBy(item => item.Key).Select(item =>
                new UnsearchedItem(item.Key, [.. item], [.. files[item.Key].Select(file => new ListedFile(file.Id, file.PathKey, file.Length))])),
        ];
    }

    /// <summary>Records files that are about to be deleted, except those whose film is back in the library.</summary>
    /// <returns>Ids of the films that are still removed.</returns>
    public static IReadOnlySet<string> Record(DbConnection connection, IReadOnlyCollection<FoundStrm> found)
    {
        var removed = connection.Query<string>(
            $"SELECT id FROM removed_library_file WHERE {SqlDialect.In("id", "@ids")}", new { ids = SqlDialect.List([.. found.Select(file => file.FileId).Distinct()]) }).ToHashSet();
        foreach (var file in found.Where(file => removed.Contains(file.FileId)))
        {
            connection.Execute(
                "INSERT INTO removed_strm (file_id, root, path) VALUES (@FileId, @Root, @Path) ON CONFLICT DO NOTHING", new { file.FileId, file.Folder.Root, file.Path });
        }

        return removed;
    }

    public static int DropFolders(DbConnection connection, IReadOnlyCollection<StrmFolder> folders) => folders.Sum(folder => connection.Execute(
        "DELETE FROM removed_strm_folder WHERE item = @Item AND root = @Root AND category = @Category AND name = @Name",
        new { folder.Item, folder.Root, folder.Category, folder.Name }));

    /// <summary>Returns files whose film is back in the library, in order.</summary>
    /// <param name="after">The last file on the previous page; null for the first page.</param>
    public static IReadOnlyList<RestoredStrm> FindRestored(DbConnection connection, RestoredStrm? after, int most) =>
    [
        .. connection.Query<RestoredStrm>(
            """
            SELECT s.file_id AS FileId, s.root AS Root, s.path AS Path, f.path_key AS PathKey, r.name AS Release
            FROM removed_strm s JOIN library_file f ON f.id = s.file_id JOIN release r ON r.id = f.release_id
            WHERE (s.file_id, s.path) > (@file, @path) ORDER BY s.file_id, s.path LIMIT @most
            """,
            new { file = after?.FileId ?? "", path = after?.Path ?? "", most }),
    ];

    public static int DropRestored(DbConnection connection, IReadOnlyCollection<RestoredStrm> files) => files.Sum(file => connection.Execute(
        "DELETE FROM removed_strm WHERE file_id = @FileId AND path = @Path", new { file.FileId, file.Path }));

    internal sealed record UnsearchedFile(long Item, string Id, string PathKey, long Length);
}
