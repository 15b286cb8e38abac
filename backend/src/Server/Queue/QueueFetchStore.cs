using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.Queue;

/// <summary>Stores the fetch state of items whose NZB is still to be fetched.</summary>
internal sealed class QueueFetchStore(SluiceDatabase database)
{
    /// <summary>Replaces an item's address with its fetched NZB, in the caller's transaction. The item keeps its position.</summary>
    public static void SetNzb(DbConnection connection, QueueItem item, long file) =>
        connection.Execute(
            """
            UPDATE queue_item
            SET url = NULL, file = @File, name = @Name, folded = fold_text(@Name), nzb_name = @NzbName, password = @Password, nzb_hash = @NzbHash, nzb_length = @NzbLength,
              encoded_bytes = @EncodedBytes, posted_at = @PostedMilliseconds, files = @Files, segments = @Segments
            WHERE id = @Id
            """,
            item with { File = file });

    /// <summary>Returns the items due at a time in Unix milliseconds, longest overdue first.</summary>
    public Task<IReadOnlyList<string>> ListDueAsync(long now, int limit, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<string>)
            [
                .. connection.Query<string>(
                    "SELECT id FROM queue_item WHERE url IS NOT NULL AND fetch_at <= @now ORDER BY fetch_at, position LIMIT @limit", new { now, limit }),
            ],
            cancellationToken);

    /// <summary>Returns the due time of the next fetch in Unix milliseconds, or null if there are no items to fetch.</summary>
    public Task<long?> FindNextAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.ExecuteScalar<long?>("SELECT min(fetch_at) FROM queue_item WHERE url IS NOT NULL"), cancellationToken);

    /// <summary>Stores the number of attempts and the next due time in Unix milliseconds.</summary>
    public Task SetTriedAsync(string id, int tries, long dueAt, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                "UPDATE queue_item SET fetch_tries = @tries, fetch_at = @dueAt WHERE id = @id", new { id, tries, dueAt }),
            cancellationToken);
}
