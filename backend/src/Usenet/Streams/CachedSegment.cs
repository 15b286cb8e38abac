using System.Diagnostics.CodeAnalysis;

namespace Sluice.Usenet.Streams;

/// <summary>A segment in the memory cache, and its place among the idle ones. Guarded by the cache.</summary>
internal sealed class CachedSegment(SegmentKey key, SegmentBuffer buffer)
{
    public SegmentKey Key => key;

    public SegmentBuffer Buffer => buffer;

    /// <summary>When its last reader gave it back.</summary>
    public long IdleSince { get; set; }

    /// <summary>Whether it has left the cache.</summary>
    public bool IsDropped { get; set; }

    public CachedSegment? Older { get; set; }

    public CachedSegment? Newer { get; set; }

    /// <summary>Whether the cache alone holds it.</summary>
    [MemberNotNullWhen(true, nameof(Older), nameof(Newer))]
    public bool IsIdle => Older is not null;
}
