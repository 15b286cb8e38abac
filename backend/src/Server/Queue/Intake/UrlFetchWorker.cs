using System.Collections.Concurrent;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;
using Sluice.Server.Outbound;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>
/// Fetches the NZBs of items that came as addresses, a few at a time, whether their items or the queue are paused or not: links of indexers
/// run out. What passes is tried ten times, when the host says or later each time. Tries and times are in the rows, so that a
/// restart changes nothing of them.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class UrlFetchWorker(
    UrlFetch fetch,
    QueueStore store,
    QueueFetchStore fetches,
    SluiceDatabase database,
    BlobStore blobs,
    NzbIntake intake,
    AddressGuard guard,
    SecretBox box,
    TimeProvider time,
    ILogger<UrlFetchWorker> logger) : IWorker
{
    /// <summary>Fetches at a time.</summary>
    public const int MaxAtOnce = 4;

    /// <summary>Tries of an item.</summary>
    public const int MaxTries = 10;

    private static readonly TimeSpan Step = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan LongestStep = TimeSpan.FromSeconds(600);

    // What a host may ask for: indexers count by the day.
    private static readonly TimeSpan LongestAfter = TimeSpan.FromDays(1);

    // The clock of the rows may be set; looking once a minute bounds what that does.
    private static readonly TimeSpan LongestLook = TimeSpan.FromMinutes(1);

    private readonly WakeSignal _signal = new(time);

    // Added to by the loop, left by the fetch itself before it wakes the loop.
    private readonly ConcurrentDictionary<string, Task> _busy = new();

    /// <inheritdoc/>
    public string Name => "the fetching of NZBs";

    /// <summary>Reads an address that a client sent.</summary>
    /// <returns>Why it must not be fetched, or null.</returns>
    public string? Refuse(string text, out Uri? url) => Uri.TryCreate(text.Trim(), UriKind.Absolute, out url) ? guard.Refuse(url) : "it is no address";

    /// <summary>Adds an NZB by an address that <see cref="Refuse"/> has passed. Does not wait for the fetch.</summary>
    /// <exception cref="StorageException">The address cannot be encrypted, because the key cannot be read or made.</exception>
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

        // Paths and queries hold keys; the host alone is shown.
        var outcome = await intake.AddUrlAsync(
            $"NZB from {url.Host}", id => box.Seal(ImportItem.UrlName(id), url.AbsoluteUri), addition, cancellationToken);
        Wake();
        return outcome;
    }

    /// <summary>Looks what is due: an item was added, has come back from the history, or its fetch has ended.</summary>
    public void Wake() => _signal.Set();

    /// <inheritdoc/>
    public async Task RunAsync(CancellationToken stopping)
    {
        // Without a database the server only explains itself.
        if (!database.IsOpen)
            return;
        try
        {
            while (true)
                await _signal.WaitAsync(await StartDueAsync(stopping), stopping);
        }
        catch (DatabaseLostException)
        {
            // Safe mode: nothing is added any more.
        }
    }

    /// <summary>Fetches that are under way have been told as well.</summary>
    public Task FinishAsync(CancellationToken cancellationToken) => Task.WhenAll(_busy.Values).WaitAsync(cancellationToken);

    /// <returns>How long to wait when nothing wakes the loop; null: until something does.</returns>
    private async Task<TimeSpan?> StartDueAsync(CancellationToken stopping)
    {
        // The addresses wait for the lost key file. Once it is given up, they fail.
        if (box.IsLocked)
            return LongestLook;
        var now = time.WallTime().ToUnixTimeMilliseconds();
        // Taken before ListDueAsync: the row of a fetch that leaves _busy while it reads may still say that it is due. Its WorkAsync wakes the loop again.
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
        var left = TimeSpan.FromMilliseconds(Math.Clamp(next - now, 0, (long)LongestLook.TotalMilliseconds));
        // What is due is under way, and wakes the loop when it has ended.
        return left > TimeSpan.Zero ? left : _busy.IsEmpty ? TimeSpan.FromSeconds(1) : LongestLook;
    }

    /// <param name="id">The item.</param>
    /// <param name="begin">It is known as being fetched.</param>
    /// <param name="stopping">The process ends.</param>
    private async Task WorkAsync(string id, Task begin, CancellationToken stopping)
    {
        await begin;
        try
        {
            // A client may have removed it.
            if (await store.FindAsync(id, stopping) is { Url: { } url } item)
                await EndAsync(item, await FetchAsync(id, url, stopping));
        }
        catch (OperationCanceledException) when (stopping.IsCancellationRequested)
        {
            // It is due at the next start.
        }
        catch (Exception e)
        {
            // A defect, or a fault of storage, delays this item and no other; nothing can be written of it.
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
            await Task.Delay(Step, time, stopping);
        }
        catch (OperationCanceledException)
        {
            // It is due at the next start.
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
                var after = end.After is { } asked ? Limit(asked, LongestAfter) : Limit(Step * Math.Max(tries, 1), LongestStep);
                QueueLog.FetchWaits(logger, item.Id, (long)after.TotalSeconds, cause);
                await fetches.SetTriedAsync(item.Id, tries, (time.WallTime() + after).ToUnixTimeMilliseconds(), CancellationToken.None);
                return;
            }

            end = new UrlFetchEnd(ImportFailure.UrlFetchFailed(cause));
        }

        if (end.Failure is { } failure)
            await FailAsync(item.Id, failure);
    }

    /// <summary>The address stays with a failed item whose fetch may be tried again; of a body that is no NZB it has no use.</summary>
    private async Task FailAsync(string id, ImportFailure failure)
    {
        var failed = await database.WriteAsync(
            connection =>
            {
                if (QueueStore.Remove(connection, id) is not { } item)
                    return false;
                var url = failure.Reason is FailureReason.UrlFetchFailed or FailureReason.UrlRefused ? item.Url : null;
                HistoryStore.Insert(connection, FailedItem.Of(item with { Url = url }, failure, [], time.WallTime()));
                return true;
            },
            CancellationToken.None);
        if (failed)
            QueueLog.Failed(logger, id, failure.Reason.ToString());
    }

    private static TimeSpan Limit(TimeSpan time, TimeSpan longest) =>
        time < TimeSpan.FromSeconds(1) ? TimeSpan.FromSeconds(1) : time < longest ? time : longest;
}
