namespace Sluice.Usenet.Streams;

/// <summary>
/// The proved segments in memory. Whatever any reader holds can be found here by the next one; what nobody holds any more stays
/// for a while, the least recently used going first, within a ceiling of its own and as long as the readers leave memory for it.
/// </summary>
/// <remarks>
/// Thread-safe. The cache has one count of each buffer; a buffer is idle while that is the only one. Counts of an idle buffer
/// are taken under the lock alone, so that an idle buffer cannot come to life while it is dropped.
/// </remarks>
internal sealed class SegmentCache : IDisposable
{
    private readonly Lock _gate = new();
    private readonly Dictionary<SegmentKey, CachedSegment> _segments = [];
    private readonly TimeProvider _time;
    private readonly TimeSpan _keep;
    private readonly long _most;
    private readonly ITimer _timer;

    // The idle ones in a ring, the anchor's newer neighbour being the oldest of them.
    private readonly CachedSegment _anchor = new(default, null!);
    private bool _isTimed;
    private bool _isClosed;

    /// <param name="options">How much is kept for how long.</param>
    /// <param name="time">Clock.</param>
    public SegmentCache(StreamOptions options, TimeProvider time)
    {
        _time = time;
        _most = options.CacheCeiling;
        _keep = options.CacheKeep;
        _anchor.Newer = _anchor.Older = _anchor;
        _timer = time.CreateTimer(static state => ((SegmentCache)state!).DropOutdated(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Bytes of blocks that only the cache holds.</summary>
    public long IdleBytes { get; private set; }

    // The anchor itself when none is idle.
    private CachedSegment Oldest => _anchor.Newer!;

    /// <summary>Offers a segment that has been proved. The cache takes a count of its own.</summary>
    public void Add(SegmentKey key, SegmentBuffer proved)
    {
        lock (_gate)
        {
            if (_isClosed || _segments.ContainsKey(key))
                return;
            proved.Retain();
            var entry = new CachedSegment(key, proved);
            _segments.Add(key, entry);
            proved.WatchedBy(this, entry);
        }
    }

    /// <summary>Whether a segment is held.</summary>
    public bool Has(SegmentKey key)
    {
        lock (_gate)
            return _segments.ContainsKey(key);
    }

    /// <summary>Finds a segment.</summary>
    /// <returns>The buffer with one more count on it, which is the caller's; null when it is not held.</returns>
    public SegmentBuffer? Take(SegmentKey key)
    {
        lock (_gate)
        {
            if (!_segments.TryGetValue(key, out var entry))
                return null;
            Unlink(entry);
            entry.Buffer.Retain();
            return entry.Buffer;
        }
    }

    /// <summary>By a buffer: perhaps only the cache's count is left.</summary>
    public void NoteIdle(CachedSegment entry)
    {
        lock (_gate)
        {
            // It may have been found again, or dropped, in the meantime.
            if (entry.IsIdle || entry.IsDropped || !entry.Buffer.HasOneCount)
                return;
            entry.IdleSince = _time.GetTimestamp();
            Link(entry);
            while (IdleBytes > _most)
                Drop(Oldest);
            SetTimer();
        }
    }

    /// <summary>Gives memory back because a reader needs it.</summary>
    /// <returns>False when there was nothing to give.</returns>
    public bool GiveWay()
    {
        lock (_gate)
        {
            if (Oldest == _anchor)
                return false;
            Drop(Oldest);
            return true;
        }
    }

    /// <summary>Gives everything back; what readers still hold goes when they release it.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            _isClosed = true;
            foreach (var entry in _segments.Values.ToArray())
                Drop(entry);
        }

        _timer.Dispose();
    }

    private void DropOutdated()
    {
        lock (_gate)
        {
            _isTimed = false;
            while (Oldest != _anchor && _time.GetElapsedTime(Oldest.IdleSince) >= _keep)
                Drop(Oldest);
            SetTimer();
        }
    }

    private void SetTimer()
    {
        if (_isTimed || Oldest == _anchor || _isClosed)
            return;
        _isTimed = true;
        var due = _keep - _time.GetElapsedTime(Oldest.IdleSince);
        _timer.Change(due > TimeSpan.Zero ? due : TimeSpan.Zero, Timeout.InfiniteTimeSpan);
    }

    private void Drop(CachedSegment entry)
    {
        Unlink(entry);
        entry.IsDropped = true;
        _segments.Remove(entry.Key);
        entry.Buffer.Release();
    }

    private void Link(CachedSegment entry)
    {
        (entry.Older, entry.Newer) = (_anchor.Older, _anchor);
        _anchor.Older = _anchor.Older!.Newer = entry;
        IdleBytes += entry.Buffer.BlockBytes;
    }

    private void Unlink(CachedSegment entry)
    {
        if (!entry.IsIdle)
            return;
        entry.Older!.Newer = entry.Newer;
        entry.Newer!.Older = entry.Older;
        entry.Older = entry.Newer = null;
        IdleBytes -= entry.Buffer.BlockBytes;
    }
}
