namespace Sluice.Usenet.Streams;

/// <summary>How much the streams may hold, and how far they trust what arrives.</summary>
/// <remarks>Immutable.</remarks>
public sealed record StreamOptions
{
    // The part of the budget that is guaranteed to places: 200 of 256 MiB.
    private const int PlaceParts = 25;
    private const int BudgetParts = 32;

    /// <summary>Decoded bytes that all streams together may hold ahead of their readers.</summary>
    public long ByteBudget { get; init; } = 256L << 20;

    /// <summary>The same for one stream, whatever its reader and the line ask for.</summary>
    public long ReadAhead { get; init; } = 128L << 20;

    /// <summary>Holds the landing segment back until it is proved, too.</summary>
    public bool VerifyBeforeServe { get; init; }

    /// <summary>Whether bytes that do not fit their checksum are corrupt; if not, identity and length alone prove a part.</summary>
    public bool ChecksCrc { get; init; } = true;

    /// <summary>Whether a segment that one stream has fetched serves all others; if not, each fetches its own.</summary>
    public bool SharesSegments { get; init; } = true;

    /// <summary>What each stream that has a place can always have.</summary>
    public long GuaranteedBytes { get; init; } = 2L << 20;

    /// <summary>A player's buffer is worth this much of its own rate, and no more.</summary>
    public TimeSpan PacedReadAhead { get; init; } = TimeSpan.FromSeconds(4);

    /// <summary>After this long without a read all but two segments are given back.</summary>
    public TimeSpan IdleTrim { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>After this long those are given back too, and the place with them.</summary>
    public TimeSpan IdleDrop { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>A load that meets nothing but faults is tried again for this long while a viewer waits.</summary>
    public TimeSpan PlaybackRetries { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>How much later a damaged article is asked for again before it is taken for bad: damage on the way passes by then.</summary>
    public TimeSpan AskAgainAfter { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Bytes at the end of what a response takes from the landing segment that are withheld until it is proved.</summary>
    public int WithheldBytes { get; init; } = 4096;

    /// <summary>A reader that takes no more than this in a row is a probe: buffers on the way take about that much before their client has read a byte.</summary>
    public int ProbeBytes { get; init; } = 384 * 1024;

    /// <summary>Where a reader lands, this much is asked for at once: a player that looks at a place takes as much, and it may lie in two segments.</summary>
    public int LandingReach { get; init; } = 128 * 1024;

    /// <summary>Proved bytes that stay in memory when no reader holds them any more; 0: none.</summary>
    public long CacheBytes { get; init; } = 32L << 20;

    /// <summary>For how long they stay.</summary>
    public TimeSpan CacheKeep { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>What the cache may hold of the budget, which readers come before.</summary>
    public long CacheCeiling => Math.Min(CacheBytes, ByteBudget / 8);

    /// <summary>
    /// Bytes held by readers and cache together from which on the cache gives way: a reader that fills a large window at full
    /// speed seldom comes back for what it has read, and the process need not grow for that.
    /// </summary>
    public long CacheGivesWayAt => ByteBudget / 8;

    /// <summary>Most places that are wanted; null: as many as the budget carries.</summary>
    public int? WantedStreams { get; init; }

    /// <summary>
    /// Places: streams that may read at a time, 100 of them out of 256 MiB, or fewer where that is wanted. What they are guaranteed is less
    /// than the budget, so that a stream which has lost its place may take a moment to give its memory back.
    /// </summary>
    public int MaxStreams => (int)Math.Clamp(ByteBudget * PlaceParts / BudgetParts / GuaranteedBytes, 1, WantedStreams ?? int.MaxValue);
}
