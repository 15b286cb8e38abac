using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.Queue.Intake;

/// <summary>A file of the watch folder as it was found.</summary>
/// <param name="Path">Absolute.</param>
/// <param name="Length">In bytes.</param>
/// <param name="ChangedAt">Ticks of the time of its last change.</param>
internal sealed record WatchedFile(string Path, long Length, long ChangedAt);

/// <summary>
/// Reads and writes <c>watched_file</c>: files whose NZBs are accepted and that are still there, because the process ended before it
/// removed them, or because they cannot be removed. Found again as they were, they are not added again (IMP-7).
/// </summary>
internal sealed class WatchedFileStore(SluiceDatabase database)
{
    /// <summary>Remembers a file, as part of the transaction that adds its NZBs.</summary>
    public static void Insert(DbConnection connection, WatchedFile file) =>
        connection.Execute(
            """
            INSERT INTO watched_file (path, length, changed_at) VALUES (@Path, @Length, @ChangedAt)
            ON CONFLICT (path) DO UPDATE SET length = excluded.length, changed_at = excluded.changed_at
            """,
            file);

    /// <summary>The files that are remembered.</summary>
    public Task<IReadOnlyList<WatchedFile>> ListAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<WatchedFile>)
                [.. connection.Query<WatchedFile>("SELECT path AS Path, length AS Length, changed_at AS ChangedAt FROM watched_file")],
            cancellationToken);

    /// <summary>Forgets files that are gone.</summary>
    public Task ForgetAsync(IReadOnlyCollection<string> paths, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                $"DELETE FROM watched_file WHERE {SqlDialect.In("path", "@list")}", new { list = SqlDialect.List(paths) }),
            cancellationToken);
}
