using System.Collections.Concurrent;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;
using Sluice.Server.Outbound;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>
/// Fetches the NZBs of items added by address, a few at a time and even while paused, because indexer links expire. Retries temporary errors ten
/// times. Attempts and due times are stored, so that a restart does not reset them. Thread-safe.
/// </summary>
internal sealed class UrlFetchWorker(
    UrlFetch fetch,
    QueueStore store,
    QueueFetchStore fetches,
    QueueRemoval removal,
    SluiceDatabase database,
    BlobStore blobs,
    NzbIntake intake,
    AddressGuard guard,
    SecretBox box,
    TimeProvider time,
    ILogger<UrlFetchWorker> logger) : IWorker
{
    public const int MaxAtOnce = 4;
    public const int MaxTries = 10;

    private static readonly TimeSpan RetryStep = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan MaxRetryDelay = TimeSpan.FromSeconds(600);

    // Maximum delay that a host may request. It is long, because indexers count requests per day.
    private static readonly TimeSpan MaxRequestedDelay = TimeSpan.FromDays(1);

    // Due times are wall-clock times. Checking every minute limits the effect of a clock change.
    private static readonly TimeSpan MaxSleep = TimeSpan.FromMinutes(1);

    private readonly WakeSignal _signal = new(time);

    // The loop adds fetches. Each fetch removes itself before it wakes the loop.
    private readonly ConcurrentDictionary<string, Task> _busy = new();

    public string Name => "the fetching of NZBs";

    /// <summary>Parses an address that a client sent. Returns why it must not be fetched, or null.</summary>
    public string? Refuse(string text, out Uri? url) => Uri.TryCreate(text.Trim(), UriKind.Absolute, out url) ? guard.Refuse(url) : "it is no address";

    /// <summary>Adds an item for an address accepted by <see cref="Refuse"/>. Returns before the fetch.</summary>
    /// <exception cref="StorageException">The address cannot be encrypted, because the key cannot be read or created.</exception>
    public async Task<AddOutcome> AddAsync(Uri url, NzbAddition addition, CancellationToken cancellationToken)
    {
        try
        {
            blobs.RequireSpace(0);
        }
        catch (StorageException e) when (e.Fault == StorageFault.Full)
        {
            return AddOutcome.Refused(AddRefusal.DiskFull);
        }

        // Show only the host, because path and query may contain keys.
        var outcome = await intake.AddUrlAsync(
            $"NZB from {url.Host}", id => box.Seal(ImportItem.UrlName(id), url.AbsoluteUri), addition, cancellationToken);
        Wake();
        return outcome;
    }

    public void Wake() => _signal.Set();

    public Task RunAsync(CancellationToken stopping) => database.WhileOpenAsync(async () =>
    {
        while (true)
            await _signal.WaitAsync(await StartDueAsync(stopping), stopping);
    });

    public Task FinishAsync(CancellationToken cancellationToken) => Task.WhenAll(_busy.Values).WaitAsync(cancellationToken);

    /// <returns>How long to sleep; null to sleep until woken.</returns>
    private async Task<TimeSpan?> StartDueAsync(CancellationToken stopping)
    {
        // Wait for the missing key file. If the user discards the key, the fetches fail.
        if (box.IsLocked)
            return MaxSleep;
        var now = time.WallTime().ToUnixTimeMilliseconds();
        // Copy before ListDueAsync, because the row of a fetch that ends in the meantime may still look due. That fetch wakes the loop again.
        var underWay = _busy.Keys.ToHashSet();
        foreach (var id in await fetches.ListDueAsync(now, MaxAtOnce * 2, stopping))
        {
            if (_busy.Count >= MaxAtOnce)
                return null;
            if (underWay.Contains(id))
                continue;
            var begin = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _busy.TryAdd(id, WorkAsync(id, begin.Task, stopping));
            begin.SetResult();
        }

        if (await fetches.FindNextAsync(stopping) is not { } next)
            return null;
        var left = TimeSpan.FromMilliseconds(Math.Clamp(next - now, 0, (long)MaxSleep.TotalMilliseconds));
        // All due items are being fetched, and each fetch wakes the loop when it ends.
        return left > TimeSpan.Zero ? left : _busy.IsEmpty ? TimeSpan.FromSeconds(1) : MaxSleep;
    }

    /// <param name="begin">Completes once <c>_busy</c> contains this fetch.</param>
    private async Task WorkAsync(string id, Task begin, CancellationToken stopping)
    {
        await begin;
        try
        {
            // A client may have removed the item in the meantime.
            if (await store.FindAsync(id, stopping) is { Url: { } url } item)
                await EndAsync(item, await FetchAsync(id, url, stopping));
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // It is fetched again at the next startup.
        }
        catch (Exception e)
        {
            // A bug or storage error delays only this item. Wait here, because the row cannot store the delay.
            QueueLog.FetchBroke(logger, e, id);
            await PauseAsync(stopping);
        }
        finally
        {
            _busy.TryRemove(id, out _);
            Wake();
        }
    }

    private async Task PauseAsync(CancellationToken stopping)
    {
        try
        {
            await Task.Delay(RetryStep, time, stopping);
        }
        catch (OperationCanceledException)
        {
            // It is fetched again at the next startup.
        }
    }

    private async Task<UrlFetchEnd> FetchAsync(string id, string text, CancellationToken stopping) =>
        box.Open(ImportItem.UrlName(id), text) is { } plain && Uri.TryCreate(plain, UriKind.Absolute, out var url)
            ? await fetch.RunAsync(id, url, stopping)
            : new UrlFetchEnd(ImportFailure.UrlFetchFailed("its address can no longer be read, because its key was given up"));

    private async Task EndAsync(QueueItem item, UrlFetchEnd end)
    {
        if (end.Again is { } cause)
        {
            var tries = item.FetchTries + (end.Counts ? 1 : 0);
            if (tries < MaxTries)
            {
                var after = end.After is { } asked ? Limit(asked, MaxRequestedDelay) : Limit(RetryStep * Math.Max(tries, 1), MaxRetryDelay);
                QueueLog.FetchWaits(logger, item.Name, item.Id, (long)after.TotalSeconds, cause);
                await fetches.SetTriedAsync(item.Id, tries, (time.WallTime() + after).ToUnixTimeMilliseconds(), CancellationToken.None);
                return;
            }

            end = new UrlFetchEnd(ImportFailure.UrlFetchFailed(cause));
        }

        if (end.Failure is not { } failure)
            return;
        foreach (var failed in await removal.FailAsync(_ => [item.Id], failure, CancellationToken.None))
            QueueLog.Failed(logger, failed.Name, failed.Id, failure.Sentence);
    }

    private static TimeSpan Limit(TimeSpan time, TimeSpan longest) =>
        time < TimeSpan.FromSeconds(1) ? TimeSpan.FromSeconds(1) : time < longest ? time : longest;
}
