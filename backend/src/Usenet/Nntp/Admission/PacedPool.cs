namespace Sluice.Usenet.Nntp.Admission;

/// <summary>The answer of the bandwidth limit to one command.</summary>
internal enum PaceAnswer : byte
{
    Granted,

    /// <summary>Granted ahead of waiting playback, because bytes are owed to the background.</summary>
    Owed,
    WaitsForTurn,

    /// <summary>Too many bytes are outstanding, so that only a reply helps.</summary>
    WaitsForReplies,
}

/// <summary>The state of one account's pool within the limiter. Made by <see cref="BandwidthLimiter.Join"/>.</summary>
/// <remarks>Only the limiter changes it, under its lock and in calls of the pool, so the pool may read it under its own lock.</remarks>
internal sealed class PacedPool(BandwidthLimiter limiter)
{
    public bool IsLimited => limiter.BytesPerSecond > 0;

    /// <summary>The most urgent lane that waits for the limit alone; null if none does.</summary>
    public OperationLane? Held { get; set; }

    /// <summary>Whether it waits only for its turn, not for outstanding bytes.</summary>
    public bool IsNext { get; set; }

    public long Turn { get; set; }

    public long Outstanding { get; set; }

    public PaceAnswer Ask(in ArticleRequest request, long outstanding, bool isIdle, bool isBehind) =>
        limiter.Ask(this, request, outstanding, isIdle, isBehind);

    public void Take(in ArticleRequest request, PaceAnswer answer) => limiter.Take(this, request, answer);

    public void Settle(in ArticleRequest request, long received) => limiter.Settle(request, received);

    public void Tell(OperationLane? held, bool isNext, long outstanding) => limiter.Tell(this, held, isNext, outstanding);

    public void Leave() => limiter.Leave(this);
}
