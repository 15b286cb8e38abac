namespace Sluice.Usenet.Nntp.Connections;

/// <summary>The start times of the running dials of one pool.</summary>
/// <remarks>Used under the lock of the pool. All times are timestamps of the time provider.</remarks>
internal sealed class PoolDials
{
    // In order of their start.
    private readonly List<long> _begun = [];
    private long _noted = long.MinValue;

    public int Count => _begun.Count;

    /// <summary>Start of the latest dial, even if it has ended.</summary>
    public long LastBegunAt { get; private set; }

    /// <summary>Start of the oldest running dial; null if there is none.</summary>
    public long? Oldest => _begun.Count > 0 ? _begun[0] : null;

    /// <summary>Start of the first dial after a time; null if there is none.</summary>
    public long? FirstAfter(long timestamp)
    {
        var index = _begun.FindIndex(begun => begun > timestamp);
        return index < 0 ? null : _begun[index];
    }

    /// <summary>Adds a dial and returns its start, for <see cref="End"/>.</summary>
    public long Begin(long now)
    {
        _begun.Add(now);
        return LastBegunAt = now;
    }

    public void End(long begunAt) => _begun.Remove(begunAt);

    /// <summary>Notes that waiting fetches were sent away because of the oldest dial; false if they already were.</summary>
    public bool TryNoteOldest()
    {
        if (Oldest is not { } oldest || oldest <= _noted)
            return false;
        _noted = oldest;
        return true;
    }
}
