using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.History;

namespace Sluice.Server.Queue;

/// <summary>
/// Keeps removed queue and history rows until the removal can no longer be undone (HLT-61). Separate tables hide them from all lists while their NZBs
/// stay referenced. All methods run in the caller's transaction.
/// </summary>
internal static class RemovedStore
{
    public static readonly BlobReference QueueReference = new("removed_queue_item", "nzb_hash", "removed_queue_item_nzb");

    public static readonly BlobReference HistoryReference = new("removed_history_item", "nzb_hash", "removed_history_item_nzb");

    public static readonly BlobReference RawReference = new("removed_queue_file", "hash", "removed_queue_file_hash") { IsNzb = false };

    // Rows deleted per transaction.
    private const int PerDrop = 1000;

    // All columns except the row number.
    private const string ItemColumns =
        """
        id, position, name, folded, nzb_name, category, folder, priority, paused, password, post_processing, script, nzb_length, encoded_bytes, posted_at, added_at,
        url, fetch_tries, fetch_at, file, nzb_hash, named, retried, files, segments
        """;

    private const string FileColumns = "id, folder, hash, length, packed, added_at, properties";

    private const string HistoryColumns =
        """
        number, id, name, nzb_name, category, folder, priority, password, post_processing, script, nzb_hash, encoded_bytes, bytes, release_id, reason,
        fail_message, added_at, started_at, completed_at, steps, archived, nzb_length, url, folded, release_folder, strm_root,
        removed_release_id
        """;

    /// <summary>Starts a removal, or extends it. Returns its number.</summary>
    /// <param name="removal">Number of the removal; null for a new one.</param>
    /// <param name="until">Undo deadline in Unix milliseconds.</param>
    public static long Begin(DbConnection connection, long? removal, long until)
    {
        if (removal is not { } known)
            return connection.ExecuteScalar<long>("INSERT INTO removal (until) VALUES (@until) RETURNING number", new { until });
        connection.Execute("UPDATE removal SET until = @until WHERE number = @known", new { until, known });
        return known;
    }

    /// <summary>Moves queue items to the tables of removed items. Copies their files first, because a trigger deletes each file with its last item.</summary>
    /// <returns>The ids of the removed items.</returns>
    public static IReadOnlyList<string> TakeItems(DbConnection connection, long removal, IReadOnlyCollection<string> ids)
    {
        // Ordered by row number, so that each database page is written once and an undo restores the order.
        List<long> numbers = [.. connection.Query<long>(
            $"SELECT {SqlDialect.RowNumber} FROM queue_item WHERE {SqlDialect.In("id", "@list")} ORDER BY {SqlDialect.RowNumber}", new { list = SqlDialect.List(ids) })];
        var values = new { removal, list = SqlDialect.List(numbers) };
        var which = SqlDialect.In(SqlDialect.RowNumber, "@list");
        connection.Execute(
            $"INSERT INTO removed_queue_item (removal, {ItemColumns}) SELECT @removal, {ItemColumns} FROM queue_item WHERE {which} ORDER BY {SqlDialect.RowNumber}",
            values);
        connection.Execute(
            $"""
            INSERT INTO removed_queue_file (removal, name, {FileColumns})
            SELECT @removal, name, {FileColumns} FROM queue_file WHERE id IN (SELECT file FROM queue_item WHERE {which})
            ON CONFLICT DO NOTHING
            """,
            values);
        // Do not delete files, because a trigger deletes each file with its last item.
        return [.. connection.Query<string>($"DELETE FROM queue_item WHERE {which} RETURNING id", values)];
    }

    /// <summary>Moves history items to the table of removed items. Returns the items as they were.</summary>
    public static IReadOnlyList<EndedItem> TakeHistory(DbConnection connection, long removal, IReadOnlyCollection<long> numbers)
    {
        connection.Execute(
            $"INSERT INTO removed_history_item (removal, {HistoryColumns}) SELECT @removal, {HistoryColumns} FROM history_item WHERE {SqlDialect.In("number", "@list")}",
            new { removal, list = SqlDialect.List(numbers) });
        return HistoryStore.Remove(connection, numbers);
    }

    /// <summary>Whether a removal can still be undone; null if it never existed.</summary>
    public static bool? IsOpen(DbConnection connection, long removal, long now) =>
        connection.ExecuteScalar<long?>("SELECT until FROM removal WHERE number = @removal", new { removal }) is { } until
            ? until > now
            : removal > 0 && removal <= (connection.ExecuteScalar<long?>(SqlDialect.LastNumber("removal")) ?? 0) ? false : null;

    /// <summary>
    /// Restores all rows and ends the removal. If a position is taken, the restored item goes before the other item. If a file name is taken, a number is
    /// appended to the restored file's name. Returns the restored history items.
    /// </summary>
    public static IReadOnlyList<EndedItem> Return(DbConnection connection, long removal)
    {
        ReturnFiles(connection, removal);
        ReturnItems(connection, removal);
        ReleaseClaims.Return(connection, removal);
        List<long> numbers = [.. connection.Query<long>("SELECT number FROM removed_history_item WHERE removal = @removal", new { removal })];
        HistoryStore.AdvanceChanges(connection, connection.Execute(
            $"INSERT INTO history_item ({HistoryColumns}) SELECT {HistoryColumns} FROM removed_history_item WHERE removal = @removal", new { removal }));
        connection.Execute("DELETE FROM removal WHERE number = @removal", new { removal });
        return HistoryStore.FindEnded(connection, SqlDialect.List(numbers));
    }

    /// <summary>Closes expired removals.</summary>
    /// <param name="now">Current time in Unix milliseconds.</param>
    /// <param name="latest">Deadlines later than this are invalid, because the clock has been set back.</param>
    /// <returns>Numbers of the closed removals, and the next deadline or null.</returns>
    public static (IReadOnlyList<long> Due, long? Next) Close(DbConnection connection, long now, long latest)
    {
        IReadOnlyList<long> due = [.. connection.Query<long>(
            "UPDATE removal SET until = 0 WHERE until <= @now OR until > @latest RETURNING number", new { now, latest })];
        return (due, connection.ExecuteScalar<long?>("SELECT min(until) FROM removal WHERE until > 0"));
    }

    /// <summary>Deletes part of a closed removal. The last call also deletes the removal itself.</summary>
    /// <returns>Blobs that the deleted rows referred to; null if no rows are left.</returns>
    public static IReadOnlyList<string>? Drop(DbConnection connection, long removal)
    {
        List<string?> hashes = [];
        foreach (var (table, column) in new[] { ("removed_queue_item", "nzb_hash"), ("removed_queue_file", "hash"), ("removed_history_item", "nzb_hash") })
        {
            hashes.AddRange(connection.Query<string?>(
                $"""
                DELETE FROM {table} WHERE {SqlDialect.RowNumber} IN (SELECT {SqlDialect.RowNumber} FROM {table} WHERE removal = @removal LIMIT @most)
                RETURNING {column}
                """,
                new { removal, most = PerDrop }));
        }

        if (hashes.Count > 0)
            return [.. hashes.OfType<string>()];
        connection.Execute("DELETE FROM removal WHERE number = @removal", new { removal });
        return null;
    }

    /// <summary>Whether a removed row refers to a blob.</summary>
    public static bool Uses(DbConnection connection, string hash) =>
        connection.ExecuteScalar<bool>(
            """
            SELECT EXISTS (SELECT 1 FROM removed_queue_item WHERE nzb_hash = @hash) OR EXISTS (SELECT 1 FROM removed_queue_file WHERE hash = @hash)
              OR EXISTS (SELECT 1 FROM removed_history_item WHERE nzb_hash = @hash)
            """,
            new { hash });

    private static void ReturnFiles(DbConnection connection, long removal)
    {
        connection.Execute(
            $"""
            INSERT INTO queue_file (name, {FileColumns}) SELECT name, {FileColumns} FROM removed_queue_file r
            WHERE removal = @removal AND NOT EXISTS (SELECT 1 FROM queue_file f WHERE f.id = r.id OR (f.folder = r.folder AND f.name = r.name))
            """,
            new { removal });
        List<TakenName> displaced =
        [
            .. connection.Query<TakenName>(
                """
                SELECT id AS Number, folder AS Folder, name AS Name FROM removed_queue_file r
                WHERE removal = @removal AND NOT EXISTS (SELECT 1 FROM queue_file f WHERE f.id = r.id) ORDER BY id
                """,
                new { removal }),
        ];
        foreach (var file in displaced)
        {
            var dot = file.Name.LastIndexOf('.');
            var (stem, extension) = dot > 0 ? (file.Name[..dot], file.Name[dot..]) : (file.Name, "");
            var name = ReleaseName.FindFree(stem, free => QueueFileStore.Contains(connection, file.Folder, free + extension)) + extension;
            connection.Execute(
                $"INSERT INTO queue_file (name, {FileColumns}) SELECT @name, {FileColumns} FROM removed_queue_file WHERE removal = @removal AND id = @Number",
                new { removal, name, file.Number });
        }
    }

    private static void ReturnItems(DbConnection connection, long removal)
    {
        connection.Execute(
            $"""
            INSERT INTO queue_item ({ItemColumns}) SELECT {ItemColumns} FROM removed_queue_item r
            WHERE removal = @removal AND NOT EXISTS (SELECT 1 FROM queue_item q WHERE q.priority = r.priority AND q.position = r.position)
            ORDER BY {SqlDialect.RowNumber}
            """,
            new { removal });
        List<TakenPlace> displaced =
        [
            .. connection.Query<TakenPlace>(
                $"""
                SELECT {SqlDialect.RowNumber} AS Number, priority AS Priority, position AS Position FROM removed_queue_item r
                WHERE removal = @removal AND NOT EXISTS (SELECT 1 FROM queue_item q WHERE q.id = r.id) ORDER BY priority DESC, position
                """,
                new { removal }),
        ];
        foreach (var item in displaced)
        {
            connection.Execute(
                """
                UPDATE queue_item SET position = position + 1 WHERE priority = @Priority AND position >= @Position
                  AND EXISTS (SELECT 1 FROM queue_item WHERE priority = @Priority AND position = @Position)
                """,
                item);
            connection.Execute($"INSERT INTO queue_item ({ItemColumns}) SELECT {ItemColumns} FROM removed_queue_item WHERE {SqlDialect.RowNumber} = @Number", item);
        }
    }

    /// <summary>A removed file whose name is in use.</summary>
    internal sealed record TakenName(long Number, string Folder, string Name);

    /// <summary>A removed item whose position is in use.</summary>
    internal sealed record TakenPlace(long Number, long Priority, long Position);
}
