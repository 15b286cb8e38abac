using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>
/// Single flight: whoever wants a segment that is being fetched joins that fetch, and whoever wants one that is held gets it, so
/// that any number of readers of one file cost one download. Where the settings say that nothing is shared, only what one reader asks
/// for twice is one fetch, and nothing is held for others.
/// </summary>
/// <remarks>Thread-safe. <c>_gate</c> makes one step of leaving the table and entering the cache, so that nobody falls between.</remarks>
internal sealed class SharedFetches(
    LoadServices services, CopyFetcher copies, RetryingFetcher retrying, SegmentCache cache)
    : IAsyncDisposable
{
    private const int RunsKept = 512;

    private readonly Lock _gate = new();
    private readonly Dictionary<(SegmentKey Segment, object? Reader), SharedFetch> _underWay = [];
    private readonly Stack<FetchRun> _idle = new();
    private readonly TaskCompletionSource _lastHasEnded = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _running;
    private bool _isClosed;

    /// <summary>Settles the slot with the segment, from what is held, by a fetch that others have begun, or by one of its own.</summary>
    /// <param name="key">The segment.</param>
    /// <param name="slot">Told of the end, which may be before this returns; where this throws, the caller has to tell it.</param>
    /// <param name="lane">Why.</param>
    /// <param name="cancellationToken">The slot does not want it any more; others may.</param>
    /// <exception cref="OperationCanceledException">The slot has not joined any fetch.</exception>
    /// <exception cref="ArticleGoneException">The segment was proved gone, not long ago or while its file may not be fetched again.</exception>
    public void Bring(SegmentKey key, SegmentSlot slot, OperationLane lane, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        slot.LeaveWith(services.Trust.MayLeaveEarly(slot.Piece.File.Origin, services.Options), cancellationToken);
        var urgency = slot.Urgency;
        if (!TryJoin(key, slot, lane, out var fetch, out var run))
        {
            slot.EndFetch();
            return;
        }

        // The token may have come before there was anything to leave.
        if (cancellationToken.IsCancellationRequested)
            slot.Leave();
        if (run is null)
            fetch.Hurry(lane, urgency.IsHeadOfLine);
        else
            run.Start();
    }

    /// <summary>Whether a segment is in memory for everybody, or on its way there.</summary>
    public bool Has(SegmentKey key)
    {
        lock (_gate)
            return services.Options.SharesSegments && (cache.Has(key) || _underWay.ContainsKey((key, null)));
    }

    /// <summary>A segment has come whole and proved from elsewhere. The caller keeps its count.</summary>
    public void Admit(SegmentKey key, SegmentBuffer proved)
    {
        lock (_gate)
        {
            Keep(key, proved);
        }
    }

    /// <summary>By a run: the segment is proved. Takes over the run's count.</summary>
    public void Succeed(FetchRun run, SegmentBuffer proved)
    {
        var fetch = run.Fetch;
        lock (_gate)
        {
            Forget(fetch);
            Keep(fetch.Key, proved);
        }

        fetch.Succeed(proved);
        proved.Release();
        TakeBack(run);
    }

    /// <summary>By a run: the segment cannot be had.</summary>
    public void Fail(FetchRun run, Exception failure)
    {
        var fetch = run.Fetch;
        if (failure is not (IOException or OperationCanceledException or ObjectDisposedException))
        {
            // A defect of ours must not leave a reader waiting for ever.
            StreamsLog.FetchBroke(services.Logger, failure);
            failure = new IOException("The article could not be read.", failure);
        }

        lock (_gate)
        {
            Forget(fetch);
            if (failure is ArticleGoneException gone)
                services.Damage.Gone(fetch.Key, gone.Loss);
        }

        fetch.Fail(failure);
        TakeBack(run);
    }

    /// <summary>Ends what is under way and waits for it.</summary>
    public async ValueTask DisposeAsync()
    {
        SharedFetch[] open;
        lock (_gate)
        {
            _isClosed = true;
            open = [.. _underWay.Values];
            if (_running == 0)
                _lastHasEnded.TrySetResult();
        }

        foreach (var fetch in open)
            fetch.Abandon();
        await _lastHasEnded.Task;
    }

    /// <summary>Finds the fetch that will serve the slot, or serves it at once.</summary>
    /// <param name="key">The segment.</param>
    /// <param name="slot">Joins the fetch.</param>
    /// <param name="lane">Why.</param>
    /// <param name="fetch">The fetch.</param>
    /// <param name="run">To be started, where the fetch is a new one; else null.</param>
    /// <returns>False when the slot has been served.</returns>
    private bool TryJoin(SegmentKey key, SegmentSlot slot, OperationLane lane, out SharedFetch fetch, out FetchRun? run)
    {
        SegmentBuffer? held;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isClosed, this);
            (fetch, run) = (null!, null);
            held = services.Options.SharesSegments ? cache.Take(key) : null;
            if (held is null)
            {
                if (_underWay.TryGetValue((key, PartyOf(slot.Urgency)), out var found) && found.TryJoin(slot))
                {
                    fetch = found;
                    return true;
                }

                var verdict = services.Damage.Find(key);
                if (verdict is { } known && (known.IsBelieved || !MayFetchAgain(slot.Piece.File.Origin)))
                    throw new ArticleGoneException(known.Loss, key.Segment.Index);
                run = _idle.TryPop(out var idle) ? idle : new FetchRun(this, copies, retrying, new SegmentSink(services), services.Time);
                _running++;
                _underWay[(key, PartyOf(slot.Urgency))] = fetch = run.Fetch;
                fetch.Begin(key, slot, lane, isAgain: verdict is not null);
                return true;
            }
        }

        slot.Complete(held);
        return false;
    }

    /// <summary>Whether a file may have one more segment that was fetched before, beside those that are on their way.</summary>
    private bool MayFetchAgain(FileOrigin file) =>
        services.Damage.Left(file) > _underWay.Values.Where(fetch => fetch.IsAgain && fetch.File.Equals(file)).Sum(static fetch => (long)fetch.Key.Segment.Length);

    private void Keep(SegmentKey key, SegmentBuffer proved)
    {
        if (services.Options.SharesSegments && !_isClosed)
            cache.Add(key, proved);
    }

    /// <summary>Among whom fetches are shared: everybody, or the reader alone.</summary>
    private object? PartyOf(FetchUrgency urgency) => services.Options.SharesSegments ? null : urgency.Reader;

    private void Forget(SharedFetch fetch)
    {
        // One that was given up may have been replaced already.
        var place = (fetch.Key, PartyOf(fetch.Urgency));
        if (_underWay.TryGetValue(place, out var present) && ReferenceEquals(present, fetch))
            _underWay.Remove(place);
    }

    /// <summary>A run has done all that it had to do for its fetch.</summary>
    private void TakeBack(FetchRun run)
    {
        run.Reset();
        lock (_gate)
        {
            if (_idle.Count < RunsKept)
                _idle.Push(run);
            if (--_running == 0 && _isClosed)
                _lastHasEnded.TrySetResult();
        }
    }
}
