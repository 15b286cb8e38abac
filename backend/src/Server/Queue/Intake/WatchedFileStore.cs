using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.Queue.Intake;

/// <summary>A file as seen by a scan of the watch folder.</summary>
/// <param name="Path">Absolute path.</param>
/// <param name="Length">Length in bytes.</param>
/// <param name="ChangedAt">Last write time in ticks.</param>
internal sealed record WatchedFile(string Path, long Length, long ChangedAt);

/// <summary>Stores <c>watched_file</c>: added files that could not be deleted, or not before shutdown. Prevents adding unchanged files again (IMP-7).</summary>
internal sealed class WatchedFileStore(SluiceDatabase database)
{
    /// <summary>Records a file in the transaction that adds its NZBs.</summary>
    public static void Insert(DbConnection connection, WatchedFile file) =>
        connection.Execute(
            """
            INSERT INTO watched_file (path, length, changed_at) VALUES (@Path, @Length, @ChangedAt)
            ON CONFLICT (path) DO UPDATE SET length = excluded.length, changed_at = excluded.changed_at
            """,
            file);

    public Task<IReadOnlyList<WatchedFile>> ListAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<WatchedFile>)
                [.. connection.Query<WatchedFile>("SELECT path AS Path, length AS Length, changed_at AS ChangedAt FROM watched_file")],
            cancellationToken);

    /// <summary>Removes the rows of deleted files.</summary>
    public Task ForgetAsync(IReadOnlyCollection<string> paths, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                $"DELETE FROM watched_file WHERE {SqlDialect.In("path", "@list")}", new { list = SqlDialect.List(paths) }),
            cancellationToken);
}
