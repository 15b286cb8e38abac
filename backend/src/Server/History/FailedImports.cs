using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.History;

/// <summary>Imports that failed for the same reason.</summary>
/// <param name="Count">Number of imports, at most <see cref="FailedImports.MostCounted"/>.</param>
/// <param name="Newest">Name of the newest import.</param>
/// <param name="At">When the newest import failed.</param>
internal sealed record FailedGroup(FailureReason Reason, int Count, string Newest, DateTimeOffset At);

/// <summary>Groups recent failed imports that no client or user has handled yet. All methods run in the caller's transaction.</summary>
internal static class FailedImports
{
    /// <summary>Maximum count per group, because counting a long list would slow down every request.</summary>
    public const int MostCounted = 999;

    internal static readonly string GroupSql =
        $"""
        SELECT count(*) AS Count, max(completed_at) AS At FROM (
          SELECT completed_at FROM history_item {SqlDialect.IndexedBy("history_item_failed")}
          WHERE reason = @reason AND reason IS NOT NULL AND archived = 0 AND completed_at > @since LIMIT 999)
        """;

    /// <summary>Returns one group per reason, newest first.</summary>
    /// <param name="since">Returns the time after which failures for a reason count.</param>
    public static IReadOnlyList<FailedGroup> List(DbConnection connection, Func<FailureReason, DateTimeOffset> since)
    {
        var groups = new List<FailedGroup>();
        foreach (var reason in Enum.GetValues<FailureReason>())
        {
            var values = new { reason = reason.ToString(), since = since(reason).ToUnixTimeMilliseconds() };
            var row = connection.QuerySingle<GroupRow>(GroupSql, values);
            if (row.Count == 0)
                continue;
            var newest = connection.QueryFirst<NewestRow>(
                $"""
                SELECT name AS Name, completed_at AS At FROM history_item {SqlDialect.IndexedBy("history_item_failed")}
                WHERE reason = @reason AND reason IS NOT NULL AND archived = 0 AND completed_at > @since ORDER BY completed_at DESC LIMIT 1
                """,
                values);
            groups.Add(new FailedGroup(reason, (int)row.Count, newest.Name, StoredTime.Read(newest.At)));
        }

        return [.. groups.OrderByDescending(group => group.At)];
    }

    internal sealed record GroupRow
    {
        public long Count { get; init; }
        public long? At { get; init; }
    }

    internal sealed record NewestRow(string Name, long At);
}
