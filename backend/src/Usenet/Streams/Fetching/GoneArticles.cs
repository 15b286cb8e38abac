namespace Sluice.Usenet.Streams;

/// <summary>
/// Segments that every provider has been asked for in vain not long ago. A player that hammers a hole is answered from here,
/// without asking the providers again each time; what is confirmed again is believed for twice as long, up to a day.
/// </summary>
/// <remarks>Not thread-safe: its owner orders the calls. Bounded: the oldest verdict makes room for a new one.</remarks>
internal sealed class GoneArticles(TimeProvider time)
{
    private const int Most = 100_000;
    private static readonly TimeSpan BelievedAtFirst = TimeSpan.FromHours(1);
    private static readonly TimeSpan BelievedAtMost = TimeSpan.FromHours(24);

    private readonly Dictionary<SegmentKey, Verdict> _verdicts = [];
    private readonly Queue<(SegmentKey Key, long At)> _byAge = new();

    /// <summary>What was proved about a segment, and whether that is believed still or worth another question; null when nothing is known.</summary>
    public (ArticleLoss Loss, bool IsBelieved)? Find(SegmentKey key) =>
        _verdicts.TryGetValue(key, out var verdict) ? (verdict.Loss, time.GetElapsedTime(verdict.At) < verdict.Believed) : null;

    /// <summary>Notes what has just been proved.</summary>
    public void Remember(SegmentKey key, ArticleLoss loss)
    {
        var now = time.GetTimestamp();
        var believed = BelievedAtFirst;
        if (_verdicts.TryGetValue(key, out var before))
            believed = before.Believed * 2 < BelievedAtMost ? before.Believed * 2 : BelievedAtMost;
        _verdicts[key] = new Verdict(loss, now, believed);
        _byAge.Enqueue((key, now));

        // An outdated verdict stays for a while, because it says how long the next one is to be believed, and what is fetched again.
        while (_byAge.Count > Most || (_byAge.TryPeek(out var first) && time.GetElapsedTime(first.At, now) >= 2 * BelievedAtMost))
            Forget(_byAge.Dequeue());
    }

    private void Forget((SegmentKey Key, long At) oldest)
    {
        // A newer verdict on the same segment stays.
        if (_verdicts.TryGetValue(oldest.Key, out var verdict) && verdict.At == oldest.At)
            _verdicts.Remove(oldest.Key);
    }

    private readonly record struct Verdict(ArticleLoss Loss, long At, TimeSpan Believed);
}
