namespace Sluice.Usenet.Nntp.Connections;

/// <summary>The dials of one pool that are under way, and since when.</summary>
/// <remarks>Pure state of one pool, used under its lock. All times are timestamps of the time provider.</remarks>
internal sealed class PoolDials
{
    // In the order in which they began.
    private readonly List<long> _begun = [];
    private long _noted = long.MinValue;

    /// <summary>How many there are.</summary>
    public int Count => _begun.Count;

    /// <summary>When the youngest of all began, those that have ended included.</summary>
    public long LastBegunAt { get; private set; }

    /// <summary>When the oldest began; null if there is none.</summary>
    public long? Oldest => _begun.Count > 0 ? _begun[0] : null;

    /// <summary>When the oldest of those began that are younger than a time; null if there is none.</summary>
    public long? FirstAfter(long timestamp)
    {
        var index = _begun.FindIndex(begun => begun > timestamp);
        return index < 0 ? null : _begun[index];
    }

    /// <summary>One more begins.</summary>
    /// <returns>When, for <see cref="End"/>.</returns>
    public long Begin(long now)
    {
        _begun.Add(now);
        return LastBegunAt = now;
    }

    /// <summary>One has ended.</summary>
    public void End(long begunAt) => _begun.Remove(begunAt);

    /// <summary>Notes that what waits was sent away because of the oldest; false if it was before.</summary>
    public bool TryNoteOldest()
    {
        if (Oldest is not { } oldest || oldest <= _noted)
            return false;
        _noted = oldest;
        return true;
    }
}
