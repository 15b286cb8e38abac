namespace Sluice.Usenet.Nntp;

/// <summary>
/// How many sockets a provider takes: what the account promises, or less where the server has said "too many". A lower cap is
/// tried upward again, one connection at a time. Guarded by the lock of the owning pool.
/// </summary>
internal sealed class ConnectionCap
{
    private static readonly TimeSpan ProbeUpwardAfter = TimeSpan.FromSeconds(30);

    private readonly int _promised;
    private readonly TimeProvider _time;
    private int _learned;
    private long _learnedAt;

    public ConnectionCap(int promised, TimeProvider time)
    {
        _promised = _learned = promised;
        _time = time;
    }

    /// <summary>The cap in force.</summary>
    public int Current
    {
        get
        {
            if (_learned < _promised && _time.GetElapsedTime(_learnedAt) >= ProbeUpwardAfter)
            {
                _learned++;
                _learnedAt = _time.GetTimestamp();
            }

            return _learned;
        }
    }

    /// <summary>The server has refused one more while this many were open.</summary>
    /// <returns>True when the cap in force is lower now.</returns>
    public bool Refused(int open)
    {
        var before = _learned;
        _learned = Math.Clamp(open, 1, Math.Max(1, _learned - 1));
        _learnedAt = _time.GetTimestamp();
        return _learned < before;
    }
}
