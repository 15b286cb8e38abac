using System.Data.Common;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.Queue;

/// <summary>Reads and writes what <c>queue_item</c> says about NZBs that are still to be fetched.</summary>
internal sealed class QueueFetchStore(SluiceDatabase database)
{
    /// <summary>Gives an item its NZB in place of its address, as part of the caller's transaction. Its place in the queue stays.</summary>
    public static void SetNzb(DbConnection connection, QueueItem item, long file) =>
        connection.Execute(
            """
            UPDATE queue_item
            SET url = NULL, file = @File, name = @Name, folded = fold_text(@Name), nzb_name = @NzbName, password = @Password, nzb_hash = @NzbHash, nzb_length = @NzbLength,
              encoded_bytes = @EncodedBytes, posted_at = @PostedMilliseconds, files = @Files, segments = @Segments
            WHERE id = @Id
            """,
            item with { File = file });

    /// <summary>Items whose fetch is due, those that have waited longest first.</summary>
    /// <param name="now">In Unix milliseconds.</param>
    /// <param name="limit">How many at most.</param>
    /// <param name="cancellationToken">Counts until the query begins.</param>
    public Task<IReadOnlyList<string>> ListDueAsync(long now, int limit, CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => (IReadOnlyList<string>)
            [
                .. connection.Query<string>(
                    "SELECT id FROM queue_item WHERE url IS NOT NULL AND fetch_at <= @now ORDER BY fetch_at, position LIMIT @limit", new { now, limit }),
            ],
            cancellationToken);

    /// <summary>When the next fetch is due, in Unix milliseconds; null where nothing waits.</summary>
    public Task<long?> FindNextAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.ExecuteScalar<long?>("SELECT min(fetch_at) FROM queue_item WHERE url IS NOT NULL"), cancellationToken);

    /// <summary>Keeps how often a fetch was tried, and when it is due again, in Unix milliseconds.</summary>
    public Task SetTriedAsync(string id, int tries, long dueAt, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                "UPDATE queue_item SET fetch_tries = @tries, fetch_at = @dueAt WHERE id = @id", new { id, tries, dueAt }),
            cancellationToken);
}
