using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.History;

/// <summary>Whether a program has imported a release into its library. The numbers must not change, because <c>release.claim</c> stores them.</summary>
internal enum ReleaseClaim
{
    /// <summary>No program has imported or rejected the release yet.</summary>
    Open = 0,

    /// <summary>A library may need the release, because a link was moved or deleted, or an earlier version published the release.</summary>
    Taken = 1,

    /// <summary>No library needs the release, because a client deleted its item together with the files and imported no link.</summary>
    Rejected = 2,
}

/// <summary>
/// Distinguishes imported releases from rejected ones. Programs complete both with the same call, so only a moved link proves an import (SAB-47). All methods
/// run in the caller's transaction.
/// </summary>
internal static class ReleaseClaims
{
    /// <summary>SQL condition on <c>history_item</c>: a client rejected the item's release, and no removal that can be undone contains the release.</summary>
    internal const string IsRejected =
        "release_id IN (SELECT id FROM release WHERE claim = 2 AND NOT EXISTS (SELECT 1 FROM leaving_release x WHERE x.release_id = release.id))";

    private static readonly string[] ItemTables = ["history_item", "removed_history_item"];

    /// <summary>Lets programs import or reject the release of a published item. A release that a library may need stays taken.</summary>
    /// <param name="isNew">Whether the release was just published for the first time.</param>
    public static void Open(DbConnection connection, long release, bool isNew)
    {
        connection.Execute("UPDATE release SET claim = 0 WHERE id = @release AND (claim = 2 OR @isNew)", new { release, isNew });
        Keep(connection, release);
    }

    /// <summary>Whether a release is removed or marked as taken.</summary>
    public static bool IsTaken(DbConnection connection, long release) =>
        connection.ExecuteScalar<bool>("SELECT NOT EXISTS (SELECT 1 FROM release WHERE id = @release AND claim <> 1)", new { release });

    /// <summary>Records that a program has moved or deleted a link of a release.</summary>
    public static bool Take(DbConnection connection, long release)
    {
        Keep(connection, release);
        return Touch(connection, connection.Execute("UPDATE release SET claim = 1 WHERE id = @release AND claim <> 1", new { release }) > 0 ? [release] : []) > 0;
    }

    /// <summary>Records that a client has deleted items with their files. Releases that another client can still see stay open.</summary>
    /// <param name="numbers">Row numbers of the items.</param>
    public static int Reject(DbConnection connection, IReadOnlyCollection<long> numbers) => Touch(
        connection,
        [
            .. connection.Query<long>(
                $"""
                UPDATE release SET claim = 2
                WHERE claim = 0
                  AND id IN (SELECT release_id FROM history_item WHERE {SqlDialect.In("number", "@list")} AND reason IS NULL)
                  AND NOT EXISTS (SELECT 1 FROM history_item h WHERE h.release_id = release.id AND h.archived = 0)
                RETURNING id
                """,
                new { list = SqlDialect.List(numbers) }),
        ]);

    /// <summary>Starts the removal of rejected releases.</summary>
    /// <param name="numbers">Row numbers of their items. Items without a rejected release are skipped.</param>
    public static IReadOnlyList<long> Remove(DbConnection connection, long removal, IReadOnlyCollection<long> numbers)
    {
        List<long> releases =
        [
            .. connection.Query<long>(
                $"""
                INSERT INTO leaving_release (release_id, removal)
                SELECT DISTINCT release_id, @removal FROM history_item WHERE {SqlDialect.In("number", "@list")} AND {IsRejected}
                RETURNING release_id
                """,
                new { removal, list = SqlDialect.List(numbers) }),
        ];
        Touch(connection, releases);
        return releases;
    }

    /// <summary>Ends a removal without deleting more releases.</summary>
    public static void Return(DbConnection connection, long removal) =>
        Touch(connection, [.. connection.Query<long>("DELETE FROM leaving_release WHERE removal = @removal RETURNING release_id", new { removal })]);

    /// <summary>Returns one release of a removal; null if none is left.</summary>
    public static long? FindLeaving(DbConnection connection, long removal) =>
        connection.ExecuteScalar<long?>("SELECT r.id FROM leaving_release l JOIN release r ON r.id = l.release_id WHERE l.removal = @removal LIMIT 1", new { removal });

    /// <summary>Detaches the items of releases that leave the library. The items keep the release's number for <see cref="Attach"/>.</summary>
    public static void Detach(DbConnection connection, IReadOnlyCollection<long> releases) => Link(connection, releases, "removed_release_id", "release_id");

    /// <summary>Attaches the items of restored releases again.</summary>
    public static void Attach(DbConnection connection, IReadOnlyCollection<long> releases) => Link(connection, releases, "release_id", "removed_release_id");

    /// <summary>Clears the number of a release that can no longer be restored in all items.</summary>
    public static void Forget(DbConnection connection, long release)
    {
        foreach (var table in ItemTables)
            connection.Execute($"UPDATE {table} SET removed_release_id = NULL WHERE removed_release_id = @release", new { release });
    }

    private static void Link(DbConnection connection, IReadOnlyCollection<long> releases, string set, string from)
    {
        foreach (var table in ItemTables)
            connection.Execute($"UPDATE {table} SET {set} = {from}, {from} = NULL WHERE {SqlDialect.In(from, "@list")}", new { list = SqlDialect.List(releases) });
    }

    private static void Keep(DbConnection connection, long release) =>
        connection.Execute("DELETE FROM leaving_release WHERE release_id = @release", new { release });

    /// <summary>Reports the releases' items as changed, because lists show the state of the release.</summary>
    private static int Touch(DbConnection connection, List<long> releases)
    {
        if (releases.Count > 0)
            connection.Execute($"UPDATE history_item SET release_id = release_id WHERE {SqlDialect.In("release_id", "@list")}", new { list = SqlDialect.List(releases) });
        return releases.Count;
    }
}
