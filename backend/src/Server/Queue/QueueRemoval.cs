using System.Data.Common;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue;

/// <summary>Removes items permanently: the row, a running import, and the NZB if nothing else needs it.</summary>
internal sealed class QueueRemoval(
    SluiceDatabase database, QueueActivity activity, QueueSchedule schedule, StoredNzbs stored, QueueMetrics metrics, TimeProvider time)
{
    // Small, so that adds can run between the transactions.
    private const int PerTransaction = 1_000;

    /// <returns>The ids of the removed items, in the given order.</returns>
    public async Task<IReadOnlyList<string>> RemoveAsync(IReadOnlyCollection<string> ids, CancellationToken cancellationToken)
    {
        var removed = new List<string>();
        foreach (var chunk in ids.Distinct().Chunk(PerTransaction))
        {
            Failpoint.Reach("delete-begins");
            var items = await database.WriteAsync(connection => QueueStore.Remove(connection, chunk), cancellationToken);
            Failpoint.Reach("delete-committed");
            await SettleAsync(items);
            Failpoint.Reach("delete-settled");
            removed.AddRange(chunk.Intersect(items.Select(item => item.Id)));
        }

        return removed;
    }

    /// <summary>Moves items to the history as failed, and cancels their imports. Returns the failed items.</summary>
    /// <param name="find">Finds the ids in the same transaction. Unknown ids are skipped.</param>
    public async Task<IReadOnlyList<QueueItem>> FailAsync(
        Func<DbConnection, IReadOnlyCollection<string>> find, ImportFailure failure, CancellationToken cancellationToken)
    {
        var now = time.WallTime();
        var items = await database.WriteAsync(
            connection =>
            {
                var left = QueueStore.Remove(connection, find(connection));
                foreach (var item in left)
                    HistoryStore.Insert(connection, FailedItem.Of(item, failure, [], now));
                return left;
            },
            cancellationToken);
        metrics.AddFailed(failure.Reason, items.Count);
        await SettleAsync(items);
        return items;
    }

    /// <summary>Removes a file below <c>/nzbs</c> with its remaining items. Returns whether it existed.</summary>
    public async Task<bool> RemoveFileAsync(string folder, string name, CancellationToken cancellationToken)
    {
        var items = await database.WriteAsync(connection => QueueStore.RemoveFile(connection, folder, name), cancellationToken);
        await SettleAsync(items);
        return items.Count > 0;
    }

    /// <summary>Cancels imports and delays of removed or replaced items, and releases their blobs. Each canceled import wakes the worker.</summary>
    public Task SettleAsync(IReadOnlyList<QueueItem> removed)
    {
        foreach (var item in removed)
        {
            activity.Cancel(item.Id);
            schedule.Forget(item.Id);
        }

        return stored.ReleaseAsync(removed.SelectMany(item => item.BlobHashes), CancellationToken.None);
    }
}
