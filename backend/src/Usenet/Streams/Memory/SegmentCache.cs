using System.Diagnostics.CodeAnalysis;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Memory;

/// <summary>
/// The verified segments in memory. Readers share a segment while any of them holds it. A segment without readers stays for a while, within a limit and as long
/// as readers leave memory for it. The least recently used segment is dropped first.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the table, the ring and the notes in the buffers. The lock of the <see cref="BlockPool"/> may be acquired under
/// <c>_gate</c>. The cache has one reference to each buffer. A buffer is idle while no other reference exists. An idle buffer is referenced only under
/// <c>_gate</c>, so that no reader can get a buffer during its removal.
/// </remarks>
internal sealed class SegmentCache : IDisposable
{
    private readonly Lock _gate = new();
    private readonly Dictionary<SegmentKey, Held> _segments = [];
    private readonly TimeProvider _time;
    private readonly TimeSpan _keep;
    private readonly long _most;
    private readonly ITimer _timer;

    // Idle buffers form a ring; the anchor's newer neighbor is the oldest buffer.
    private readonly CachePlace _anchor = new();
    private bool _isTimed;
    private bool _isClosed;

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

    // The anchor itself if no buffer is idle.
    private CachePlace Oldest => _anchor.Newer!;

    /// <summary>Adds a verified segment with its range in the file for which it was loaded. The cache takes its own reference.</summary>
    public void Add(SegmentKey key, SegmentBuffer proved, FileOrigin? file = null, Stretch place = default)
    {
        lock (_gate)
        {
            if (_isClosed || _segments.ContainsKey(key))
                return;
            proved.Retain();
            proved.Key = key;
            _segments.Add(key, new Held(proved, file, place));
            proved.AttachTo(this);
        }
    }

    public bool Has(SegmentKey key)
    {
        lock (_gate)
            return _segments.ContainsKey(key);
    }

    /// <summary>Returns the cached ranges loaded for a file. Scans the table, which has at most one entry per block of the budget.</summary>
    public IReadOnlyList<Stretch> Find(FileOrigin file)
    {
        lock (_gate)
            return [.. _segments.Values.Where(held => file.Equals(held.File)).Select(static held => held.Place)];
    }

    /// <summary>Returns a segment with one more reference, owned by the caller; null if it is not cached.</summary>
    public SegmentBuffer? Take(SegmentKey key)
    {
        lock (_gate)
        {
            if (!_segments.TryGetValue(key, out var found))
                return null;
            Unlink(found.Buffer);
            found.Buffer.Retain();
            return found.Buffer;
        }
    }

    /// <summary>Called by a buffer when one reference is left, usually the cache's. Makes the segment eligible for removal.</summary>
    public void NoteIdle(SegmentBuffer held)
    {
        lock (_gate)
        {
            // In the meantime, a reader may have acquired the buffer again, or the cache may have dropped it.
            if (held.IsIdle || held.IsDropped || !held.HasOneCount)
                return;
            held.IdleSince = _time.GetTimestamp();
            Link(held);
            while (IdleBytes > _most)
                DropOldest();
            SetTimer();
        }
    }

    /// <summary>Drops the oldest idle segment, because a reader needs its memory; false if there is none.</summary>
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

    /// <summary>Releases everything. A segment held by a reader is freed when the reader releases it.</summary>
    public void Dispose()
    {
        lock (_gate)
        {
            _isClosed = true;
            foreach (var held in _segments.Values.ToArray())
                Drop(held.Buffer);
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

    // Every node of the ring except the anchor belongs to a buffer.
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

    /// <summary>A cached segment: its bytes, the file for which it was loaded, and its range in that file. A value type, to save an allocation.</summary>
    private readonly record struct Held(SegmentBuffer Buffer, FileOrigin? File, Stretch Place);
}

/// <summary>The cache's record of a buffer, stored in the buffer to save an allocation: its segment and its ring position. Guarded by the cache.</summary>
internal class CachePlace
{
    /// <summary>The segment, once the buffer is in the cache.</summary>
    public SegmentKey Key { get; set; }

    /// <summary>Timestamp of the last reader's release.</summary>
    public long IdleSince { get; set; }

    public bool IsDropped { get; set; }

    public CachePlace? Older { get; set; }

    public CachePlace? Newer { get; set; }

    /// <summary>Whether only the cache holds the buffer.</summary>
    [MemberNotNullWhen(true, nameof(Older), nameof(Newer))]
    public bool IsIdle => Older is not null;
}
