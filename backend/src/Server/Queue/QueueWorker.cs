using System.Collections.Concurrent;
using Microsoft.Data.Sqlite;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue;

/// <summary>
/// Works on the queue: as many items at a time as the settings say, by priority and position. Sleeps until something is
/// added, resumed, finished or due again, or the settings change. After a start all items are taken up anew (IMP-3).
/// </summary>
internal sealed class QueueWorker(
    QueueStore store,
    ImportJob job,
    QueueSignal signal,
    RetryDelays delays,
    StartHolds holds,
    SluiceDatabase database,
    BlobStore blobs,
    StoredNzbs stored,
    IOptionsMonitor<QueueOptions> options,
    IOptionsMonitor<UsenetOptions> usenet,
    TimeProvider time,
    ILogger<QueueWorker> logger) : BackgroundService
{
    private static readonly TimeSpan UnreadablePause = TimeSpan.FromSeconds(30);

    // Added to by the loop, left by the work itself before it wakes the loop.
    private readonly ConcurrentDictionary<string, bool> _busy = new();

    /// <inheritdoc/>
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        // Without a database the server only explains itself.
        if (!database.IsOpen)
            return;

        var tasks = new List<Task>();
        using var changed = options.OnChange((_, _) => signal.Set());
        // The source of articles, which the steps hold, has followed before: it listens since it was made.
        using var provided = usenet.OnChange((_, _) => delays.EndAll());
        try
        {
            await FailLostAsync(stoppingToken);
            while (true)
            {
                tasks.RemoveAll(task => task.IsCompleted);
                await StartWorkAsync(tasks, stoppingToken);
                await signal.WaitAsync(stoppingToken);
            }
        }
        catch (OperationCanceledException) when (stoppingToken.IsCancellationRequested)
        {
            // The work has been told as well and is awaited below.
        }
        catch (DatabaseLostException)
        {
            // Safe mode: nothing is imported any more.
        }
        finally
        {
            await Task.WhenAll(tasks);
        }
    }

    private async Task StartWorkAsync(List<Task> tasks, CancellationToken stoppingToken)
    {
        try
        {
            while (_busy.Count < options.CurrentValue.WorkerCount)
            {
                var next = await store.FindNextAsync(id => _busy.ContainsKey(id) || delays.IsWaiting(id) || holds.IsHeld(id), stoppingToken);
                if (next is null)
                    return;
                _busy.TryAdd(next, true);
                tasks.Add(WorkAsync(next, stoppingToken));
            }
        }
        catch (SqliteException e) when (e is not DatabaseLostException)
        {
            QueueLog.QueueUnreadable(logger, e, (long)UnreadablePause.TotalSeconds);
            await Task.Delay(UnreadablePause, time, stoppingToken);
            signal.Set();
        }
    }

    private async Task WorkAsync(string id, CancellationToken stoppingToken)
    {
        try
        {
            var (end, cause) = await job.RunAsync(id, stoppingToken);
            if (end == ImportEnd.Waits)
            {
                QueueLog.Waits(logger, id, (long)delays.Start(id).TotalSeconds, cause);
                // Whoever removed it a moment ago had no wait to end yet.
                if (await store.FindAsync(id, CancellationToken.None) is null)
                    delays.Forget(id);
            }
            else
            {
                delays.Forget(id);
            }
        }
        catch (Exception e)
        {
            // A defect costs its own item a while, and nobody else anything.
            QueueLog.Broke(logger, e, id);
            delays.Start(id);
        }
        finally
        {
            _busy.TryRemove(id, out _);
            signal.Set();
        }
    }

    /// <summary>Items whose NZB was missing at the last start, and is at this one, end at once, whatever else they wait for (IMP-3).</summary>
    private async Task FailLostAsync(CancellationToken stoppingToken)
    {
        var failure = ImportFailure.StoredNzbLost();
        // Behind the transaction that notes this start and what it misses.
        var failed = await database.WriteAsync(
            (connection, _) =>
            {
                List<QueueItem> lost = [.. QueueStore.FindLost(connection, blobs.ContainsNzb).Select(id => QueueStore.Remove(connection, id)!)];
                foreach (var item in lost)
                    HistoryStore.Insert(connection, FailedItem.Of(item, failure, [], time.GetUtcNow()));
                return lost;
            },
            stoppingToken);
        await stored.ReleaseAsync(failed.SelectMany(item => item.BlobHashes), CancellationToken.None);
        foreach (var item in failed)
            QueueLog.Failed(logger, item.Id, failure.Reason.ToString());
    }
}
