using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>Decides whether a fetch that met nothing but faults is worth another try, and when.</summary>
/// <remarks>Pure and thread-safe. Imports are not tried again here: their queue waits for providers in its own way.</remarks>
internal sealed class RetryPolicy(StreamOptions options)
{
    // A line that is garbled now and then is worth as many; each of them is two questions to each provider.
    private const int TriesOfUselessReplies = 3;

    private static readonly TimeSpan FirstDelay = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan LongestDelay = TimeSpan.FromSeconds(2);

    /// <summary>The pause before the next try.</summary>
    /// <param name="fault">What went wrong.</param>
    /// <param name="lane">Why the article is fetched.</param>
    /// <param name="tries">Tries so far, at least 1.</param>
    /// <param name="useless">Those of them that brought a reply of no use.</param>
    /// <param name="elapsed">Time since the first of them began.</param>
    /// <returns>Null when it is time to give up.</returns>
    public TimeSpan? DelayBeforeNext(NntpException fault, OperationLane lane, int tries, int useless, TimeSpan elapsed)
    {
        if (!fault.IsTransient || lane != OperationLane.Playback || useless >= TriesOfUselessReplies || elapsed >= options.PlaybackRetries)
            return null;
        var doublings = Math.Min(tries - 1, 10);
        var delay = FirstDelay * (1 << doublings);
        return delay < LongestDelay ? delay : LongestDelay;
    }
}
