using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Streams;

/// <summary>
/// Articles that every provider has been asked for in vain not long ago. A player that hammers a hole is answered from here,
/// without asking the providers again each time.
/// </summary>
/// <remarks>Thread-safe. Bounded: the oldest verdict makes room for a new one.</remarks>
internal sealed class GoneArticles(TimeProvider time)
{
    private const int Most = 100_000;
    private static readonly TimeSpan Believed = TimeSpan.FromHours(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<MessageId, Verdict> _verdicts = [];
    private readonly Queue<(MessageId Id, long At)> _byAge = new();

    /// <summary>What was proved about an article, or null when nothing is known or it is too long ago.</summary>
    public ArticleLoss? Find(MessageId id)
    {
        lock (_gate)
        {
            if (!_verdicts.TryGetValue(id, out var verdict))
                return null;
            return time.GetElapsedTime(verdict.At) < Believed ? verdict.Loss : null;
        }
    }

    /// <summary>Notes what has just been proved.</summary>
    public void Remember(MessageId id, ArticleLoss loss)
    {
        lock (_gate)
        {
            var now = time.GetTimestamp();
            _verdicts[id] = new Verdict(loss, now);
            _byAge.Enqueue((id, now));
            while (_byAge.Count > Most || (_byAge.TryPeek(out var first) && time.GetElapsedTime(first.At, now) >= Believed))
                Forget(_byAge.Dequeue());
        }
    }

    private void Forget((MessageId Id, long At) oldest)
    {
        // A newer verdict on the same article stays.
        if (_verdicts.TryGetValue(oldest.Id, out var verdict) && verdict.At == oldest.At)
            _verdicts.Remove(oldest.Id);
    }

    private readonly record struct Verdict(ArticleLoss Loss, long At);
}
