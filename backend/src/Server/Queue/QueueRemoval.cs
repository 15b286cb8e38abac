using System.Data.Common;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue;

/// <summary>Takes items out of the queue for good: the row, the work on it, and the NZB that nothing else needs.</summary>
internal sealed class QueueRemoval(
    SluiceDatabase database, QueueActivity activity, QueueSchedule schedule, StoredNzbs stored, TimeProvider time)
{
    // Keeps each transaction short enough for adds to go on beside it.
    private const int PerTransaction = 1_000;

    /// <summary>Removes items.</summary>
    /// <param name="ids">Which; unknown ones are passed over.</param>
    /// <param name="cancellationToken">Gives up between transactions.</param>
    /// <returns>The ids that were there, in the order in which they were given.</returns>
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

    /// <summary>Moves items into the history as failed, and cancels their imports.</summary>
    /// <param name="find">Finds the ids, in the transaction that moves the items; unknown ids are skipped.</param>
    /// <returns>The ids of the items that were in the queue.</returns>
    public async Task<IReadOnlyList<string>> FailAsync(
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
        await SettleAsync(items);
        return [.. items.Select(item => item.Id)];
    }

    /// <summary>Removes a file below <c>/nzbs</c> with all items that are left of it.</summary>
    /// <returns>Whether it was there.</returns>
    public async Task<bool> RemoveFileAsync(string folder, string name, CancellationToken cancellationToken)
    {
        var items = await database.WriteAsync(connection => QueueStore.RemoveFile(connection, folder, name), cancellationToken);
        await SettleAsync(items);
        return items.Count > 0;
    }

    /// <summary>Cancels work and waits of items whose rows were removed or replaced, and releases their blobs. Cancelled work wakes the worker itself.</summary>
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
