using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Library;

/// <summary>Where a viewer stopped watching a file.</summary>
/// <param name="At">Milliseconds from the beginning.</param>
/// <param name="Duration">Length in milliseconds; null if the player did not know it.</param>
internal sealed record WatchPosition(long At, long? Duration)
{
    private const long Beginning = 30_000;

    /// <summary>The fraction watched, from 0 to 1; null if the length is unknown.</summary>
    public double? Share => Duration is > 0 ? Math.Clamp((double)At / Duration.Value, 0, 1) : null;

    /// <summary>Whether to resume here. At the beginning there is nothing to skip, and at the credits the film has been watched.</summary>
    public bool IsWorthResuming => At >= Math.Min(Beginning, (Duration ?? long.MaxValue) / 20) && Share is null or < 0.95;
}

/// <summary>Reads and writes <c>file_position</c>.</summary>
internal sealed class PositionStore(SluiceDatabase database, TimeProvider time)
{
    /// <summary>Maximum number of positions; the oldest are dropped first.</summary>
    public const int Most = 10_000;

    /// <summary>Older positions are dropped when any position is saved.</summary>
    public static readonly TimeSpan MaxAge = TimeSpan.FromDays(400);

    /// <summary>Finds watch positions by file; omits files without one. Runs in the caller's transaction.</summary>
    public static Dictionary<Guid, WatchPosition> Find(DbConnection connection, IEnumerable<Guid> files) =>
        connection.Query<PositionRow>(
                $"SELECT file_id AS FileId, at AS At, duration AS Duration FROM file_position WHERE {SqlDialect.In("file_id", "@list")}",
                new { list = SqlDialect.List([.. files.Select(id => id.ToString("D"))]) })
            .ToDictionary(row => Guid.Parse(row.FileId), row => new WatchPosition(row.At, row.Duration));

    /// <summary>
    /// Saves the position of a file that is still in the library, or drops it if there is nothing to resume. An unchanged position causes no disk write.
    /// </summary>
    public Task SaveAsync(Guid file, WatchPosition position, CancellationToken cancellationToken)
    {
        var now = time.WallTime();
        return database.WriteAsync(
            connection =>
            {
                var values = new { file = file.ToString("D"), position.At, position.Duration, now = now.ToUnixTimeMilliseconds(), oldest = (now - MaxAge).ToUnixTimeMilliseconds(), most = Most };
                if (!position.IsWorthResuming)
                    return connection.Execute("DELETE FROM file_position WHERE file_id = @file", values);
                return connection.Execute(
                    """
                    INSERT INTO file_position (file_id, at, duration, saved_at)
                    SELECT id, @At, @Duration, @now FROM library_file WHERE id = @file
                    ON CONFLICT (file_id) DO UPDATE SET at = excluded.at, duration = excluded.duration, saved_at = excluded.saved_at
                      WHERE at <> excluded.at;
                    DELETE FROM file_position WHERE saved_at < @oldest
                      OR file_id IN (SELECT file_id FROM file_position ORDER BY saved_at DESC LIMIT 100 OFFSET @most);
                    """,
                    values);
            },
            cancellationToken);
    }

    internal sealed record PositionRow
    {
        public required string FileId { get; init; }
        public long At { get; init; }
        public long? Duration { get; init; }
    }
}
