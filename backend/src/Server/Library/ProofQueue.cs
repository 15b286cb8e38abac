using System.Data.Common;
using System.Globalization;
using Dapper;
using Sluice.Server.Database;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Library;

/// <summary>The queue of releases for background verification, and its daily traffic: <c>release_proof</c> and <c>proof_day</c>. Thread-safe.</summary>
internal sealed class ProofQueue(SluiceDatabase database, TimeProvider time)
{
    /// <summary>Wakes the worker after an addition.</summary>
    public WakeSignal Added { get; } = new(time);

    /// <summary>Adds a release in the caller's transaction. The caller sets <see cref="Added"/> after the commit.</summary>
    public static void Add(DbConnection connection, long releaseId, DateTimeOffset at) => connection.Execute(
        """
        INSERT INTO release_proof (release_id, wanted_at) VALUES (@releaseId, @wantedAt)
        ON CONFLICT (release_id) DO UPDATE SET wanted_at = excluded.wanted_at
        """,
        new { releaseId, wantedAt = at.ToUnixTimeMilliseconds() });

    /// <summary>Adds releases in which readers have seeked. Ignores removed releases.</summary>
    public async Task AddAsync(IReadOnlyCollection<Release> releases, CancellationToken cancellationToken)
    {
        await database.WriteAsync(
            connection =>
            {
                foreach (var release in releases.Where(release => LibraryStore.IsThere(connection, release)))
                    Add(connection, release.Id, time.WallTime());
                return true;
            },
            cancellationToken);
        Added.Set();
    }

    /// <summary>Returns the most recently added release outside <paramref name="except"/>; null if there is none.</summary>
    public Task<Release?> FindNextAsync(IReadOnlyCollection<long> except, CancellationToken cancellationToken) => database.ReadAsync(
        connection => connection.QueryFirstOrDefault<LibraryRow>(
            $"""
            SELECT r.id AS ReleaseId, r.category AS Category, r.name AS Release, r.nzb_hash AS NzbHash, r.published_at AS PublishedAt
            FROM release_proof p JOIN release r ON r.id = p.release_id
            WHERE NOT {SqlDialect.In("p.release_id", "@except")} ORDER BY p.wanted_at DESC LIMIT 1
            """,
            new { except = SqlDialect.List(except) })?.ToRelease(),
        cancellationToken);

    public Task RemoveAsync(Release release, CancellationToken cancellationToken) => database.WriteAsync(
        connection => connection.Execute("DELETE FROM release_proof WHERE release_id = @Id", new { release.Id }), cancellationToken);

    /// <summary>Returns the bytes fetched for background verification on a day.</summary>
    public Task<long> GetCostAsync(DateOnly day, CancellationToken cancellationToken) => database.ReadAsync(
        connection => connection.ExecuteScalar<long>("SELECT coalesce(sum(bytes), 0) FROM proof_day WHERE day = @day", new { day = Write(day) }), cancellationToken);

    /// <summary>Adds to the fetched bytes of a day and deletes the other days.</summary>
    public Task AddCostAsync(DateOnly day, long bytes, CancellationToken cancellationToken) => database.WriteAsync(
        connection =>
        {
            connection.Execute("DELETE FROM proof_day WHERE day <> @day", new { day = Write(day) });
            return connection.Execute(
                "INSERT INTO proof_day (day, bytes) VALUES (@day, @bytes) ON CONFLICT (day) DO UPDATE SET bytes = bytes + excluded.bytes",
                new { day = Write(day), bytes });
        },
        cancellationToken);

    private static string Write(DateOnly day) => day.ToString("yyyy-MM-dd", CultureInfo.InvariantCulture);
}
