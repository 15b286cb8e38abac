using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>
/// Serves all waiters of a segment with one load at a time. A waiter joins the load in progress, or gets a cached segment at once, so that any number of
/// readers cost one download. If sharing is off, each load serves one reader, and nothing is cached.
/// </summary>
/// <remarks>
/// Thread-safe; one per engine. <c>_gate</c> guards the table of loads. In one step under <c>_gate</c>, a load leaves the table and its segment enters the
/// cache, so no waiter misses both. The locks of a load, the cache or the ledgers may be acquired while <c>_gate</c> is held, one at a time.
/// </remarks>
internal sealed class SegmentFetcher(LoadServices services, SegmentCache cache, DiskSegmentCache? disk) : IAsyncDisposable
{
    private readonly Lock _gate = new();
    private readonly Dictionary<(SegmentKey Segment, object? Reader), UnderWay> _underWay = [];
    private readonly TaskCompletionSource _lastHasEnded = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _running;
    private bool _isClosed;

    public LoadServices Services => services;

    /// <summary>
    /// Starts delivering a segment to its waiter; called once per waiter. Never throws: the waiter is notified of success, failure and end, perhaps before this
    /// method returns. The token cancels only the lookup of message-ids. <see cref="SegmentWaiter.Leave"/> cancels the load.
    /// </summary>
    public void Begin(SegmentWaiter waiter, OperationLane lane, CancellationToken cancellationToken)
    {
        try
        {
            var ids = waiter.Piece.File.Ids.GetAsync(waiter.Piece.Segment.Index, cancellationToken);
            if (ids.IsCompletedSuccessfully && !MayBeOnDisk(waiter.Piece))
                Load(KeyOf(waiter, ids.Result), waiter, lane);
            else
                waiter.Preparation = PrepareAsync(ids, waiter, lane);
        }
        catch (Exception failure)
        {
            Refuse(waiter, failure);
        }
    }

    /// <summary>Called by a load as its last step: the segment is verified or unavailable. Takes over the caller's reference to the buffer.</summary>
    public void Ended(SegmentLoad load, SegmentBuffer? proved, Exception? failure)
    {
        failure = failure is null ? null : ToReaderError(failure);
        lock (_gate)
        {
            // The load may have been abandoned and replaced already.
            var place = (load.Key, ExclusiveReaderOf(load.Urgency));
            if (_underWay.TryGetValue(place, out var present) && ReferenceEquals(present.Load, load))
                _underWay.Remove(place);
            if (proved is not null)
                Keep(load.Key, proved, load.File, present.Place);
            if (proved is not null && load.IsAgain)
                services.Damage.ReportGood(load.Key);
            else if (failure is ArticleGoneException { Loss: ArticleLoss.Missing })
                services.Damage.ReportMissing(load.Key, load.File, present.Place);
        }

        load.End(proved, failure);
        proved?.Release();
        lock (_gate)
        {
            if (--_running == 0 && _isClosed)
                _lastHasEnded.TrySetResult();
        }
    }

    /// <summary>Called by a load after a request that delivered only damaged copies.</summary>
    /// <inheritdoc cref="DamageLedger.ReportGarbled"/>
    public TimeSpan? ReportGarbled(SegmentLoad load, IReadOnlyCollection<object> connections)
    {
        lock (_gate)
        {
            _underWay.TryGetValue((load.Key, ExclusiveReaderOf(load.Urgency)), out var present);
            return services.Damage.ReportGarbled(load.Key, connections, load.File, present.Place);
        }
    }

    /// <summary>Returns a file's ranges in transit, in memory, and believed gone. Covers only segments loaded for this file.</summary>
    public (IReadOnlyList<Stretch> UnderWay, IReadOnlyList<Stretch> Held, IReadOnlyList<Stretch> Gone) Find(FileOrigin file)
    {
        Stretch[] underWay;
        lock (_gate)
            underWay = [.. _underWay.Values.Where(each => each.Load.File.Equals(file)).Select(static each => each.Place)];
        return (underWay, cache.Find(file), services.Damage.Find(file));
    }

    public long BytesOnDisk(SegmentKey key) => disk?.BytesOf(DiskKey.Of(key)) ?? 0;

    public bool MayBeOnDisk(Piece piece) => disk?.Covers(piece.File.Origin, new Stretch(piece.Begin, piece.Length)) == true;

    /// <summary>Ends all loads and waits for them. Later waiters fail.</summary>
    public async ValueTask DisposeAsync()
    {
        SegmentLoad[] open;
        lock (_gate)
        {
            _isClosed = true;
            open = [.. _underWay.Values.Select(static each => each.Load)];
            if (_running == 0)
                _lastHasEnded.TrySetResult();
        }

        foreach (var load in open)
            load.Abandon();
        await _lastHasEnded.Task;
    }

    private static SegmentKey KeyOf(SegmentWaiter waiter, SegmentIds ids) => ids.Primary.IsEmpty
        ? throw new ArticleGoneException(ArticleLoss.NeverPosted, waiter.Piece.Segment.Index)
        : new SegmentKey(ids, waiter.Piece.Segment);

    /// <summary>Reads the message-ids, then the segment if it is on disk.</summary>
    private async Task PrepareAsync(ValueTask<SegmentIds> ids, SegmentWaiter waiter, OperationLane lane)
    {
        try
        {
            var key = KeyOf(waiter, await ids);
            if (MayBeOnDisk(waiter.Piece) && await FindOnDiskAsync(key, waiter))
                waiter.End();
            else
                Load(key, waiter, lane);
        }
        catch (Exception failure)
        {
            Refuse(waiter, failure);
        }
    }

    /// <summary>Serves the waiter from disk blocks. If some blocks are missing, the reader gets the others until it needs a missing one.</summary>
    /// <returns>Whether the disk had all blocks.</returns>
    private async ValueTask<bool> FindOnDiskAsync(SegmentKey key, SegmentWaiter waiter)
    {
        var name = DiskKey.Of(key);
        waiter.Reads = new ReadBlocks(disk!, name, key.Segment.Length);
        if (IsInMemory(key) || await disk!.FindAsync(name, key.Segment.Length, services.Blocks) is not { } kept)
            return false;

        if (kept.IsWhole)
        {
            lock (_gate)
                Keep(key, kept, waiter.Piece.File.Origin, waiter.Place);
            CountFromDisk(waiter, waiter.Piece.Length);
            waiter.Complete(kept);
            return true;
        }

        var bytes = Math.Min(waiter.Piece.Length, kept.KeptBytes);
        try
        {
            await waiter.Lend(kept);
            return false;
        }
        catch (OperationCanceledException)
        {
            // The reader never needed the missing blocks.
            CountFromDisk(waiter, bytes);
            throw;
        }
    }

    private void CountFromDisk(SegmentWaiter waiter, long bytes)
    {
        services.Served.FromDisk(bytes);
        waiter.Urgency.Account?.AddFromDisk(bytes);
    }

    private void Load(SegmentKey key, SegmentWaiter waiter, OperationLane lane)
    {
        waiter.IsEarly = waiter.IsEarly && services.Trust.MayLeaveEarly(waiter.Piece.File.Origin, services.Options);
        if (!TryJoin(key, waiter, lane, out var load, out var isNew))
        {
            waiter.End();
            return;
        }

        // The waiter may have left before there was a load to leave.
        if (waiter.HasLeft)
            load.Leave(waiter);
        if (lane == OperationLane.Playback)
            services.Served.FromProviders();
        if (isNew)
            load.Begin();
        else
            load.Hurry(lane, waiter.Urgency.IsHeadOfLine);
    }

    /// <summary>Finds or creates the load that will serve the waiter, or serves it from the cache.</summary>
    /// <returns>False if the cache has served the waiter.</returns>
    /// <exception cref="OperationCanceledException">The waiter has left.</exception>
    /// <exception cref="ArticleGoneException">The segment was found gone recently, or its file has used up its reload allowance.</exception>
    /// <exception cref="ArticleDoubtedException">All copies just arrived damaged, and the waiter does not have to wait for the second request.</exception>
    private bool TryJoin(SegmentKey key, SegmentWaiter waiter, OperationLane lane, out SegmentLoad load, out bool isNew)
    {
        if (waiter.HasLeft)
            throw new OperationCanceledException();
        SegmentBuffer? held;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isClosed, this);
            (load, isNew) = (null!, false);
            held = services.Options.SharesSegments ? cache.Take(key) : null;
            if (held is null)
            {
                if (!waiter.MustWait && services.Damage.Find(key) is { AskIn: var askIn } && askIn > TimeSpan.Zero)
                    throw new ArticleDoubtedException(key.Segment.Index, askIn);
                var place = (key, ExclusiveReaderOf(waiter.Urgency));
                if (_underWay.TryGetValue(place, out var found) && found.Load.TryJoin(waiter))
                {
                    load = found.Load;
                    if (found.Place.Length == 0)
                        _underWay[place] = found with { Place = waiter.Place };
                    return true;
                }

                var known = services.Damage.Find(key);
                if (known is { IsDoubt: false } verdict && (verdict.IsBelieved || !MayLoadAgain(waiter.Piece.File.Origin)))
                    throw new ArticleGoneException(verdict.Loss, key.Segment.Index);
                isNew = true;
                load = new SegmentLoad(this, key, waiter.Piece.File, lane, waiter.Urgency, known);
                load.TryJoin(waiter);
                _running++;
                _underWay[place] = new UnderWay(load, waiter.Place);
                return true;
            }
        }

        if (lane == OperationLane.Playback)
            services.Served.FromMemory(waiter.Piece.Length);
        waiter.Urgency.Account?.AddFromMemory(waiter.Piece.Length);
        waiter.Complete(held);
        return false;
    }

    /// <summary>Whether a file may reload another failed segment, on top of its reloads in transit. Requires <c>_gate</c>.</summary>
    private bool MayLoadAgain(FileOrigin file) =>
        services.Damage.Left(file) > _underWay.Values.Where(each => each.Load.IsAgain && each.Load.File.Equals(file)).Sum(static each => (long)each.Load.Key.Segment.Length);

    private bool IsInMemory(SegmentKey key)
    {
        lock (_gate)
            return services.Options.SharesSegments && (cache.Has(key) || _underWay.ContainsKey((key, null)));
    }

    /// <summary>Caches a verified segment, unless sharing is off or the fetcher is closed. Requires <c>_gate</c>.</summary>
    private void Keep(SegmentKey key, SegmentBuffer proved, FileOrigin file, Stretch place)
    {
        if (services.Options.SharesSegments && !_isClosed)
            cache.Add(key, proved, file, place);
    }

    /// <summary>The only reader that a load serves; null if all readers share loads.</summary>
    private object? ExclusiveReaderOf(FetchUrgency urgency) => services.Options.SharesSegments ? null : urgency.Reader;

    /// <summary>A load, and the segment's range in the file as the first waiter with a range reports it. A value type, to save an allocation.</summary>
    private readonly record struct UnderWay(SegmentLoad Load, Stretch Place);

    private void Refuse(SegmentWaiter waiter, Exception failure)
    {
        waiter.Fail(ToReaderError(failure));
        waiter.End();
    }

    /// <summary>Converts undeclared exceptions, which are engine bugs. Logs them, and fails the reader so that it does not wait forever.</summary>
    private Exception ToReaderError(Exception failure)
    {
        if (failure is IOException or OperationCanceledException or ObjectDisposedException)
            return failure;
        StreamsLog.FetchBroke(services.Logger, failure);
        return new IOException("The article could not be read.", failure);
    }
}

/// <summary>The services shared by all loads of one engine. The source is not owned.</summary>
internal sealed record LoadServices(
    IArticleSource Source, StreamOptions Options, BlockPool Blocks, TrustLedger Trust, DamageLedger Damage, TimeProvider Time, ILogger Logger)
{
    public ServedSegments Served { get; init; } = new();

    public DecoderPool Decoders { get; } = new();
}

/// <summary>Counts the segments served to readers, by origin: memory, disk or provider.</summary>
/// <remarks>Thread-safe, because all additions are atomic. Outlives engines.</remarks>
internal sealed class ServedSegments
{
    private long _memory;
    private long _disk;
    private long _fetched;
    private long _bytes;

    public ServedCounts Counts => new(Volatile.Read(ref _memory), Volatile.Read(ref _disk), Volatile.Read(ref _fetched), Volatile.Read(ref _bytes));

    /// <summary>Counts a segment served from memory, and its decoded bytes.</summary>
    public void FromMemory(long bytes)
    {
        Interlocked.Increment(ref _memory);
        Interlocked.Add(ref _bytes, bytes);
    }

    /// <summary>Counts a segment served from disk, and its decoded bytes.</summary>
    public void FromDisk(long bytes)
    {
        Interlocked.Increment(ref _disk);
        Interlocked.Add(ref _bytes, bytes);
    }

    public void FromProviders() => Interlocked.Increment(ref _fetched);
}
