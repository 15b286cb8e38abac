using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>The outcome of one request: the end of the load, a retry after a pause, a new search later, or the next request.</summary>
internal readonly record struct LoadStep(SegmentBuffer? Proved, Exception? Failure, TimeSpan? Pause, TimeSpan? Rest)
{
    public bool IsEnd => Proved is not null || Failure is not null;

    public static LoadStep Answered(SegmentBuffer? proved) => new(proved, null, null, null);

    public static LoadStep TryAgain(TimeSpan pause) => new(null, null, pause, null);

    public static LoadStep AskLater(TimeSpan rest) => new(null, null, null, rest);

    public static LoadStep Failed(Exception failure) => new(null, failure, null, null);
}

/// <summary>Decides whether and when to retry a load that met only faults.</summary>
/// <remarks>Does no I/O. Imports are not retried here, because the import queue has its own way of waiting for providers.</remarks>
internal static class RetryPolicy
{
    // Enough for a connection that occasionally garbles replies. Each try sends up to two requests to each provider.
    private const int TriesOfUselessReplies = 3;

    private static readonly TimeSpan FirstDelay = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan LongestDelay = TimeSpan.FromSeconds(2);

    /// <summary>Returns the pause before the next try, or null if no more tries are allowed.</summary>
    /// <remarks><paramref name="useless"/> counts tries with an unusable reply; <paramref name="elapsed"/> starts when the latest waiter joins.</remarks>
    public static TimeSpan? DelayBeforeNext(NntpException fault, OperationLane lane, int tries, int useless, TimeSpan elapsed, TimeSpan longest)
    {
        if (!fault.IsTransient || lane != OperationLane.Playback || useless >= TriesOfUselessReplies || elapsed >= longest)
            return null;
        var delay = FirstDelay * (1 << Math.Min(tries - 1, 10));
        return delay < LongestDelay ? delay : LongestDelay;
    }
}
