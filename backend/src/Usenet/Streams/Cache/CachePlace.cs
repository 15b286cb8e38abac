using System.Diagnostics.CodeAnalysis;

namespace Sluice.Usenet.Streams;

/// <summary>What the memory cache notes about a buffer, in the buffer: its segment, and its place among the idle ones. Guarded by the cache.</summary>
internal class CachePlace
{
    /// <summary>The segment, once the buffer has come into the cache.</summary>
    public SegmentKey Key { get; set; }

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
