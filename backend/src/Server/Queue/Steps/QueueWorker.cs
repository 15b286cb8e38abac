using System.Collections.Concurrent;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;
using Sluice.Server.Providers;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue.Steps;

/// <summary>
/// Imports items by priority and position, as many at a time as the settings allow. Wakes when an item is added, resumed, finished or due, when the queue
/// resumes, when a provider recovers, or when settings change. A restart repeats every item from its first step (IMP-3).
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
    // The loop adds imports. Each import removes itself before it wakes the loop.
    private readonly ConcurrentDictionary<string, Task> _busy = new();

    public string Name => "the queue";

    public Task RunAsync(CancellationToken stopping) => database.WhileOpenAsync(async () =>
    {
        using var changed = options.OnChange((_, _) => pause.ReportChange());
        // The article source subscribed first, so it already has the new settings when items retry.
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
        finally
        {
            await ending.CancelAsync();
            await watching;
        }
    });

    /// <summary>Waits for the running imports, which are canceled when the worker stops.</summary>
    public Task FinishAsync(CancellationToken cancellationToken) => Task.WhenAll(_busy.Values).WaitAsync(cancellationToken);

    private async Task RetryOnRecoveryAsync(CancellationToken cancellationToken)
    {
        var recovery = providers.NextRecovery;
        while (true)
        {
            await recovery.WaitAsync(cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (cancellationToken.IsCancellationRequested)
                return;
            // Replace recovery before ending the delays, so that the next recovery is not missed.
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

    /// <param name="begin">Completes once <c>_busy</c> contains this import.</param>
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
                // Just before this delay began, a client may have removed the item, or a provider may have recovered.
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
            // A bug delays only this item.
            QueueLog.Broke(logger, e, id);
            schedule.Retry(id);
        }
        finally
        {
            _busy.TryRemove(id, out _);
            schedule.Wake();
        }
    }

    /// <summary>Fails items whose NZB was already missing at the last startup, even if they are waiting (IMP-3).</summary>
    private async Task FailLostAsync(CancellationToken stopping)
    {
        var failure = ImportFailure.StoredNzbLost();
        // Writes keep their order, so this startup's missing NZBs are already recorded.
        foreach (var item in await removal.FailAsync(connection => [.. QueueStore.FindLost(connection, blobs.ContainsNzb)], failure, stopping))
            QueueLog.Failed(logger, item.Name, item.Id, failure.Sentence);
    }
}
