namespace Sluice.Usenet.Streams;

/// <summary>Memory limits of the streams, and their trust in unverified bytes. Immutable.</summary>
public sealed record StreamOptions
{
    // The share of the budget guaranteed to places: 200 of 256 MiB.
    private const int PlaceParts = 25;
    private const int BudgetParts = 32;

    /// <summary>Decoded bytes that all streams together may hold ahead of their readers.</summary>
    public long ByteBudget { get; init; } = 256L << 20;

    /// <summary>Decoded bytes that one stream may hold ahead, no matter how fast the reader and the connection are.</summary>
    public long ReadAhead { get; init; } = 128L << 20;

    /// <summary>Whether even the first segment of a read is withheld until it is verified.</summary>
    public bool VerifyBeforeServe { get; init; }

    /// <summary>Whether a checksum mismatch makes an article corrupt. If false, identity and length alone are enough to accept a part.</summary>
    public bool ChecksCrc { get; init; } = true;

    /// <summary>Whether a fetched segment is shared by all streams. If false, each stream fetches its own copy.</summary>
    public bool SharesSegments { get; init; } = true;

    /// <summary>Bytes that each stream with a place can always hold.</summary>
    public long GuaranteedBytes { get; init; } = 2L << 20;

    /// <summary>Maximum playback time, at the reader's own rate, to buffer for a player.</summary>
    public TimeSpan PacedReadAhead { get; init; } = TimeSpan.FromSeconds(4);

    /// <summary>Idle time after which a stream releases all but two of its segments.</summary>
    public TimeSpan IdleTrim { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Idle time after which a stream releases its last segments and its place among the active streams.</summary>
    public TimeSpan IdleDrop { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>How long to retry a load that meets only faults while a viewer waits.</summary>
    public TimeSpan PlaybackRetries { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>Delay before a damaged article is requested a second time, because a fault in transit has usually passed after this long.</summary>
    public TimeSpan AskAgainAfter { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Bytes withheld at the end of a response's data from an unverified first segment.</summary>
    public int WithheldBytes { get; init; } = 4096;

    /// <summary>Maximum size of a read that counts as a probe, because network buffers absorb about this many bytes before the client reads.</summary>
    public int ProbeBytes { get; init; } = 384 * 1024;

    /// <summary>Bytes requested at once where a reader starts, because a player reads this many after a seek and they may span two segments.</summary>
    public int LandingReach { get; init; } = 128 * 1024;

    /// <summary>Verified bytes that stay in memory after their last reader has released them; 0 for none.</summary>
    public long CacheBytes { get; init; } = 32L << 20;

    /// <summary>How long cached bytes stay in memory after their last reader has released them.</summary>
    public TimeSpan CacheKeep { get; init; } = TimeSpan.FromMinutes(1);

    /// <summary>The part of the budget that the cache may use; readers have priority.</summary>
    public long CacheCeiling => Math.Min(CacheBytes, ByteBudget / 8);

    /// <summary>Total bytes of readers and cache above which the cache shrinks, because a reader with a large window seldom rereads.</summary>
    public long CacheGivesWayAt => ByteBudget / 8;

    /// <summary>Configured maximum number of places; null for as many as the budget allows.</summary>
    public int? WantedStreams { get; init; }

    /// <summary>Maximum number of streams reading at once: 100 with 256 MiB, unless configured lower.</summary>
    /// <remarks>Their guarantees add up to less than the budget, so that a stream that lost its place has time to release memory.</remarks>
    public int MaxStreams => (int)Math.Clamp(ByteBudget * PlaceParts / BudgetParts / GuaranteedBytes, 1, WantedStreams ?? int.MaxValue);
}
