using System.Diagnostics.CodeAnalysis;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Memory;

/// <summary>
/// The proved segments in memory. A segment that any reader holds is found here by the next one; a segment that no reader holds any more
/// stays for a while, the least recently used going first, within a ceiling of its own and as long as the readers leave memory for it.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the table, the ring and the notes in the buffers; below it the lock of the <see cref="BlockPool"/> is
/// taken. The cache has one count of each buffer; a buffer is idle while that is the only one. Counts of an idle buffer are taken under the
/// lock alone, so that an idle buffer cannot come to life while it is dropped.
/// </remarks>
internal sealed class SegmentCache : IDisposable
{
    private readonly Lock _gate = new();
    private readonly Dictionary<SegmentKey, SegmentBuffer> _segments = [];
    private readonly TimeProvider _time;
    private readonly TimeSpan _keep;
    private readonly long _most;
    private readonly ITimer _timer;

    // The idle ones in a ring, the anchor's newer neighbour being the oldest of them.
    private readonly CachePlace _anchor = new();
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
    private CachePlace Oldest => _anchor.Newer!;

    /// <summary>Offers a segment that has been proved. The cache takes a count of its own.</summary>
    /// <param name="key">The segment.</param>
    /// <param name="proved">Its bytes.</param>
    /// <param name="file">The file that it was loaded for; null where nothing asks.</param>
    /// <param name="place">Where its bytes lie in that file.</param>
    public void Add(SegmentKey key, SegmentBuffer proved, FileOrigin? file = null, Stretch place = default)
    {
        lock (_gate)
        {
            if (_isClosed || _segments.ContainsKey(key))
                return;
            proved.Retain();
            (proved.Key, proved.File, proved.Place) = (key, file, place);
            _segments.Add(key, proved);
            proved.WatchedBy(this);
        }
    }

    /// <summary>Whether a segment is held.</summary>
    public bool Has(SegmentKey key)
    {
        lock (_gate)
            return _segments.ContainsKey(key);
    }

    /// <summary>
    /// Where the segments lie that are held and were loaded for a file. Looks through the table, which has no more entries than the byte
    /// budget has blocks.
    /// </summary>
    public IReadOnlyList<Stretch> Find(FileOrigin file)
    {
        lock (_gate)
            return [.. _segments.Values.Where(held => file.Equals(held.File)).Select(static held => held.Place)];
    }

    /// <summary>Finds a segment.</summary>
    /// <returns>The buffer with one more count on it, which is the caller's; null when it is not held.</returns>
    public SegmentBuffer? Take(SegmentKey key)
    {
        lock (_gate)
        {
            if (!_segments.TryGetValue(key, out var held))
                return null;
            Unlink(held);
            held.Retain();
            return held;
        }
    }

    /// <summary>By a buffer: perhaps only the cache's count is left.</summary>
    public void NoteIdle(SegmentBuffer held)
    {
        lock (_gate)
        {
            // It may have been found again, or dropped, in the meantime.
            if (held.IsIdle || held.IsDropped || !held.HasOneCount)
                return;
            held.IdleSince = _time.GetTimestamp();
            Link(held);
            while (IdleBytes > _most)
                DropOldest();
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
            DropOldest();
            return true;
        }
    }

    /// <summary>Gives everything back; a segment that a reader still holds goes when it is released.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            _isClosed = true;
            foreach (var held in _segments.Values.ToArray())
                Drop(held);
        }

        _timer.Dispose();
    }

    private void DropOutdated()
    {
        lock (_gate)
        {
            _isTimed = false;
            while (Oldest != _anchor && _time.GetElapsedTime(Oldest.IdleSince) >= _keep)
                DropOldest();
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

    // Every place in the ring besides the anchor is that of a buffer.
    private void DropOldest() => Drop((SegmentBuffer)Oldest);

    private void Drop(SegmentBuffer held)
    {
        Unlink(held);
        held.IsDropped = true;
        _segments.Remove(held.Key);
        held.Release();
    }

    private void Link(SegmentBuffer held)
    {
        (held.Older, held.Newer) = (_anchor.Older, _anchor);
        _anchor.Older = _anchor.Older!.Newer = held;
        IdleBytes += held.BlockBytes;
    }

    private void Unlink(SegmentBuffer held)
    {
        if (!held.IsIdle)
            return;
        held.Older.Newer = held.Newer;
        held.Newer.Older = held.Older;
        held.Older = held.Newer = null;
        IdleBytes -= held.BlockBytes;
    }
}

/// <summary>The notes of the memory cache about a buffer, in the buffer: its segment, and its place among the idle ones. Guarded by the cache.</summary>
internal class CachePlace
{
    /// <summary>The segment, once the buffer has come into the cache.</summary>
    public SegmentKey Key { get; set; }

    /// <summary>The file that it was loaded for; null where that is not known.</summary>
    public FileOrigin? File { get; set; }

    /// <summary>Where its bytes lie in that file.</summary>
    public Stretch Place { get; set; }

    /// <summary>When its last reader gave it back.</summary>
    public long IdleSince { get; set; }

    /// <summary>Whether it has left the cache.</summary>
    public bool IsDropped { get; set; }

    public CachePlace? Older { get; set; }

    public CachePlace? Newer { get; set; }

    /// <summary>Whether the cache alone holds it.</summary>
    [MemberNotNullWhen(true, nameof(Older), nameof(Newer))]
    public bool IsIdle => Older is not null;
}
