using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Outbound;

namespace Sluice.Server.History;

/// <summary>Releases of completed history items, which clients look for on the mount (SAB-42).</summary>
internal sealed class CompletedStore(SluiceDatabase database, RcloneNotifier rclone)
{
    private const string IsCompleted =
        "EXISTS (SELECT 1 FROM history_item h WHERE h.release_id = r.id AND h.reason IS NULL AND h.archived = 0)";

    /// <summary>Finds a completed release with a file or folder inside it, each through an index.</summary>
    internal const string FindSql = $"{LibraryStore.FindSql} AND {IsCompleted}";

    /// <summary>Finds the entry at a path inside a category folder, with one query at any depth; null if there is none.</summary>
    /// <param name="category">Name of the category folder.</param>
    /// <param name="release">Name of the release.</param>
    /// <param name="folder">Path inside the release, as a folder; empty for the release itself.</param>
    /// <param name="file">Path of a library file that the request may mean instead; null for none.</param>
    /// <param name="cancellationToken">Works only until the query starts.</param>
    public Task<LibraryEntry?> FindAsync(
        string category, string release, IReadOnlyList<string> folder, IReadOnlyList<string>? file, CancellationToken cancellationToken)
    {
        var key = file is null ? null : PathKey.OfNames(file);
        return database.ReadAsync(
            connection => LibraryStore.Find(connection, FindSql, category, release, PathKey.OfNames(folder), key), cancellationToken);
    }

    /// <summary>Lists category folders with completed releases by name, each with its newest publish time.</summary>
    public Task<IReadOnlyList<CategoryEntry>> ListCategoriesAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<CategoryEntry>)
            [
                .. connection
                    .Query<CategoryRow>(
                        $"SELECT r.category AS Name, max(r.published_at) AS Newest FROM release r WHERE {IsCompleted} GROUP BY r.category ORDER BY r.category")
                    .Select(row => row.Read()),
            ],
            cancellationToken);

    /// <summary>The newest publish time of completed releases in a category; null if there are none.</summary>
    public Task<DateTimeOffset?> FindNewestAsync(string category, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.ExecuteScalar<long?>(
                $"""
                SELECT r.published_at FROM release r WHERE r.category = @category AND {IsCompleted}
                ORDER BY r.published_at DESC LIMIT 1
                """,
                new { category = PathKey.OfName(category) }) is { } newest
                ? StoredTime.Read(newest)
                : (DateTimeOffset?)null,
            cancellationToken);

    public IAsyncEnumerable<ReleaseEntry> ListReleasesAsync(string category, CancellationToken cancellationToken) =>
        database.StreamAsync(
            connection => connection
                .Query<LibraryRow>(
                    $"""
                    SELECT r.id AS ReleaseId, r.category AS Category, r.name AS Release, r.nzb_hash AS NzbHash, r.published_at AS PublishedAt
                    FROM release r WHERE r.category = @category AND {IsCompleted} ORDER BY r.name
                    """,
                    new { category = PathKey.OfName(category) },
                    buffered: false)
                .Select(row => new ReleaseEntry(row.ToRelease())),
            cancellationToken);

    /// <summary>Removes a release's completed items from the history, but keeps the release. Returns false if there was none.</summary>
    public async Task<bool> RemoveAsync(Release release, CancellationToken cancellationToken)
    {
        var removed = await database.WriteAsync(connection => HistoryStore.RemoveCompleted(connection, release.Id) > 0, cancellationToken);
        if (removed)
            rclone.ReleaseChanged(release.Category, release.Name);
        return removed;
    }
}
