using System.Collections.Concurrent;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;
using Sluice.Server.Providers;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue.Steps;

/// <summary>
/// Works on the queue: as many items at a time as the settings say, by priority and position. Sleeps until an item is
/// added, resumed, finished or due again, the queue is resumed, a provider recovers, or the settings change. After a start every item begins from its first step (IMP-3).
/// </summary>
internal sealed class QueueWorker(
    QueueStore store,
    ImportJob job,
    QueueSchedule schedule,
    QueuePause pause,
    QueueRemoval removal,
    SluiceDatabase database,
    BlobStore blobs,
    IOptionsMonitor<QueueOptions> options,
    IOptionsMonitor<UsenetOptions> usenet,
    ProviderHost providers,
    ILogger<QueueWorker> logger) : IWorker
{
    // Added to by the loop, left by the work itself before it wakes the loop.
    private readonly ConcurrentDictionary<string, Task> _busy = new();

    /// <inheritdoc/>
    public string Name => "the queue";

    /// <inheritdoc/>
    public async Task RunAsync(CancellationToken stopping)
    {
        // Without a database the server only explains itself.
        if (!database.IsOpen)
            return;

        using var changed = options.OnChange((_, _) => pause.Tell());
        // The source of articles, which the steps hold, has followed before: it listens since it was made.
        using var provided = usenet.OnChange((_, _) => schedule.RetryAll());
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(stopping);
        var watching = RetryOnRecoveryAsync(ending.Token);
        try
        {
            await FailLostAsync(stopping);
            while (true)
            {
                await StartWorkAsync(stopping);
                await schedule.WaitAsync(stopping);
            }
        }
        catch (DatabaseLostException)
        {
            // Safe mode: nothing is imported any more.
        }
        finally
        {
            await ending.CancelAsync();
            await watching;
        }
    }

    /// <summary>Work that is under way has been told as well.</summary>
    public Task FinishAsync(CancellationToken cancellationToken) => Task.WhenAll(_busy.Values).WaitAsync(cancellationToken);

    private async Task RetryOnRecoveryAsync(CancellationToken cancellationToken)
    {
        var recovery = providers.NextRecovery;
        while (true)
        {
            await recovery.WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (cancellationToken.IsCancellationRequested)
                return;
            // Asked for before the waits end: a recovery after that is another one.
            recovery = providers.NextRecovery;
            schedule.RetryAll();
        }
    }

    private async Task StartWorkAsync(CancellationToken stopping)
    {
        while (_busy.Count < options.CurrentValue.WorkerCount)
        {
            var least = pause.IsPaused ? QueuePriority.Force : QueuePriority.Low;
            var next = await store.FindNextAsync(least, id => _busy.ContainsKey(id) || schedule.IsWaiting(id), stopping);
            if (next is null)
                return;
            var begin = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _busy.TryAdd(next, WorkAsync(next, begin.Task, stopping));
            begin.SetResult();
        }
    }

    /// <param name="id">The item.</param>
    /// <param name="begin">It is known as being worked on.</param>
    /// <param name="stopping">The process ends.</param>
    private async Task WorkAsync(string id, Task begin, CancellationToken stopping)
    {
        await begin;
        try
        {
            var recovery = providers.NextRecovery;
            var (end, cause) = await job.RunAsync(id, stopping);
            if (end == ImportEnd.Waits)
            {
                QueueLog.Waits(logger, id, (long)schedule.Retry(id).TotalSeconds, cause);
                // An item that was removed a moment ago had no wait to end yet, nor had it one when a provider recovered under its work.
                if (recovery.IsCompleted || await store.FindAsync(id, CancellationToken.None) is null)
                    schedule.Forget(id);
            }
            else
            {
                schedule.Forget(id);
            }
        }
        catch (Exception e)
        {
            // A defect of the import delays its own item and no other.
            QueueLog.Broke(logger, e, id);
            schedule.Retry(id);
        }
        finally
        {
            _busy.TryRemove(id, out _);
            schedule.Wake();
        }
    }

    /// <summary>Items whose NZB was missing at the last start, and is at this one, end at once, whatever else they wait for (IMP-3).</summary>
    private async Task FailLostAsync(CancellationToken stopping)
    {
        var failure = ImportFailure.StoredNzbLost();
        // Runs after the transaction that records this start and the NZBs missing at it, because writes keep their order.
        foreach (var id in await removal.FailAsync(connection => [.. QueueStore.FindLost(connection, blobs.ContainsNzb)], failure, stopping))
            QueueLog.Failed(logger, id, failure.Reason.ToString());
    }
}
