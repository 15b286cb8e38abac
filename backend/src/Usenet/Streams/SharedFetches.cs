using System.Runtime.CompilerServices;
using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>
/// Single flight: whoever wants a segment that is being fetched joins that fetch, and whoever wants one that is held gets it, so
/// that any number of readers of one file cost one download.
/// </summary>
/// <remarks>Thread-safe. <c>_gate</c> makes one step of leaving the table and entering the cache, so that nobody falls between.</remarks>
internal sealed class SharedFetches(RetryingFetcher fetcher, SegmentCache cache, BlockPool blocks, EarlyRelease early, RefetchLimit refetches, TimeProvider time, ILogger logger)
    : IAsyncDisposable
{
    private const int SinksKept = 64;

    private readonly Lock _gate = new();
    private readonly Dictionary<SegmentKey, SharedFetch> _underWay = [];
    private readonly GoneArticles _gone = new(time);
    private readonly Stack<SegmentSink> _sinks = new();
    private bool _isClosed;

    /// <summary>Settles the slot with the segment, from what is held, by a fetch that others have begun, or by one of its own.</summary>
    /// <exception cref="OperationCanceledException">The slot has left the fetch; it may be settled all the same.</exception>
    /// <exception cref="ArticleGoneException">The segment was proved gone not long ago.</exception>
    /// <exception cref="RefetchLimitException">The file is damaged and was fetched too often.</exception>
    public async ValueTask BringAsync(SegmentKey key, SegmentSlot slot, OperationLane lane, FetchUrgency urgency, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (Find(key, slot, lane, urgency, out var fetch, out var isNew) is not { } subscription)
            return;

        if (isNew)
            fetch.Run = RunAsync(fetch);
        else
            Follow(fetch, subscription, lane);
        var registration = cancellationToken.UnsafeRegister(static state => ((FetchSubscription)state!).Leave(), subscription);
        await subscription.Ended;

        // No need to wait for a callback that runs just now: leaving what has ended does nothing.
        registration.Unregister();
        if (!isNew)
            urgency.Raised -= fetch.Urgency.Raise;
        cancellationToken.ThrowIfCancellationRequested();
    }

    /// <summary>Whether a segment is in memory, or on its way there.</summary>
    public bool Has(SegmentKey key)
    {
        lock (_gate)
            return cache.Has(key) || _underWay.ContainsKey(key);
    }

    /// <summary>A segment has come whole and proved from elsewhere. The caller keeps its count.</summary>
    public void Admit(SegmentKey key, SegmentBuffer proved)
    {
        lock (_gate)
        {
            if (!_isClosed)
                cache.Add(key, proved);
        }
    }

    /// <summary>Ends what is under way and waits for it.</summary>
    public async ValueTask DisposeAsync()
    {
        SharedFetch[] open;
        lock (_gate)
        {
            _isClosed = true;
            open = [.. _underWay.Values];
        }

        foreach (var fetch in open)
            fetch.Abandon();
        await Task.WhenAll(open.Select(fetch => fetch.Run));
    }

    /// <summary>Serves the slot at once, or finds the fetch that will.</summary>
    /// <returns>Null when the slot has been served.</returns>
    private FetchSubscription? Find(SegmentKey key, SegmentSlot slot, OperationLane lane, FetchUrgency urgency, out SharedFetch fetch, out bool isNew)
    {
        SegmentBuffer? held;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isClosed, this);
            isNew = false;
            fetch = null!;
            held = cache.Take(key);
            if (held is null)
            {
                var subscription = new FetchSubscription(slot, urgency, early.IsTrusted(slot.Piece.File.Origin));
                if (_underWay.TryGetValue(key, out var found) && found.TryJoin(subscription))
                {
                    fetch = found;
                    return subscription;
                }

                if (_gone.Find(key) is { } loss)
                    throw new ArticleGoneException(loss, key.Segment.Index);
                if (refetches.Left(slot.Piece.File.Origin) is < long.MaxValue and var left && left <= BytesUnderWay(slot.Piece.File.Origin))
                    throw new RefetchLimitException();
                _underWay[key] = fetch = new SharedFetch(key, subscription, lane, time);
                isNew = true;
                return subscription;
            }
        }

        slot.Complete(held);
        return null;
    }

    /// <summary>What is on its way for a file; a window may be as large as the file.</summary>
    private long BytesUnderWay(FileOrigin file) => _underWay.Values.Where(fetch => fetch.File.Equals(file)).Sum(fetch => (long)fetch.Key.Segment.Length);

    private static void Follow(SharedFetch fetch, FetchSubscription subscription, OperationLane lane)
    {
        subscription.Urgency.Raised += fetch.Urgency.Raise;
        fetch.Hurry(lane, subscription.Urgency.IsHeadOfLine);
    }

    private async Task RunAsync(SharedFetch fetch)
    {
        try
        {
            var proved = await FetchAsync(fetch);
            lock (_gate)
            {
                Forget(fetch);
                if (!_isClosed)
                    cache.Add(fetch.Key, proved);
            }

            fetch.Succeed(proved);
            proved.Release();
        }
        catch (Exception failure)
        {
            Fail(fetch, failure);
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<SegmentBuffer> FetchAsync(SharedFetch fetch)
    {
        var sink = RentSink();
        sink.Open(fetch);
        try
        {
            return await fetcher.FetchAsync(fetch, sink);
        }
        finally
        {
            sink.Close();
            ReturnSink(sink);
        }
    }

    private void Fail(SharedFetch fetch, Exception failure)
    {
        if (failure is not (IOException or OperationCanceledException or ObjectDisposedException))
        {
            // A defect of ours must not leave a reader waiting for ever.
            StreamsLog.FetchBroke(logger, failure);
            failure = new IOException("The article could not be read.", failure);
        }

        lock (_gate)
        {
            Forget(fetch);
            if (failure is ArticleGoneException gone)
            {
                _gone.Remember(fetch.Key, gone.Loss);
                refetches.Failed(fetch.File);
            }
        }

        fetch.Fail(failure);
    }

    private void Forget(SharedFetch fetch)
    {
        // One that was given up may have been replaced already.
        if (_underWay.TryGetValue(fetch.Key, out var present) && ReferenceEquals(present, fetch))
            _underWay.Remove(fetch.Key);
    }

    private SegmentSink RentSink()
    {
        lock (_sinks)
            return _sinks.TryPop(out var sink) ? sink : new SegmentSink(blocks, early, refetches);
    }

    private void ReturnSink(SegmentSink sink)
    {
        lock (_sinks)
        {
            if (_sinks.Count < SinksKept)
                _sinks.Push(sink);
        }
    }
}
