namespace Sluice.Usenet.Nntp;

/// <summary>
/// How many sockets a provider takes: what the account promises, or less where the server has said "too many". A lower cap is
/// tried upward again, one connection at a time, ever more rarely while that is refused. Guarded by the lock of the owning pool.
/// </summary>
internal sealed class ConnectionCap
{
    private static readonly TimeSpan FirstPatience = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan LongestPatience = TimeSpan.FromMinutes(16);

    private ProviderOptions _provider;
    private readonly SharedResources _shared;
    private int _learned;
    private long _learnedAt;
    private TimeSpan _patience = FirstPatience;
    private bool _isTrial;

    public ConnectionCap(ProviderOptions provider, SharedResources shared)
    {
        (_provider, _shared) = (provider, shared);
        _learned = provider.MaxConnections;
        Recall();
    }

    /// <summary>Takes what has been learned before, unless something lower has been learned by now.</summary>
    public void Recall()
    {
        var known = _shared.Memory.CapOf(_provider.Id) ?? _provider.MaxConnections;
        _learned = Math.Clamp(Math.Min(known, _learned), 1, _provider.MaxConnections);
        _learnedAt = _shared.Time.GetTimestamp();
    }

    /// <summary>The account promises another number. What is learned stays, unless the promise was all that was known.</summary>
    public void Change(ProviderOptions provider)
    {
        var now = _learned >= _provider.MaxConnections ? provider.MaxConnections : Math.Min(_learned, provider.MaxConnections);
        var isNews = now != _learned || provider.Id != _provider.Id;
        _provider = provider;
        if (isNews)
            Set(now);
    }

    /// <summary>What the account promises.</summary>
    public int Promised => _provider.MaxConnections;

    /// <summary>The cap in force.</summary>
    public int Current
    {
        get
        {
            if (_learned < _provider.MaxConnections && _shared.Time.GetElapsedTime(_learnedAt) >= _patience)
            {
                _isTrial = true;
                Set(_learned + 1);
            }

            return _learned;
        }
    }

    /// <summary>The server has refused one more while this many were open.</summary>
    public void Refused(int open)
    {
        // What is open is what the server takes. A server that refuses with none open says nothing about their number.
        var lower = Math.Clamp(open, 1, Math.Max(1, _learned - 1));
        if (lower >= _learned)
            return;
        _patience = !_isTrial ? FirstPatience : _patience * 2 < LongestPatience ? _patience * 2 : LongestPatience;
        if (!_isTrial)
            NntpLog.CapLearned(_shared.Logger, _provider.Name, lower);
        _isTrial = false;
        Set(lower);
    }

    /// <summary>The server has taken as many as the cap allows.</summary>
    public void Reached(int open)
    {
        if (!_isTrial || open < _learned)
            return;
        _isTrial = false;
        _patience = FirstPatience;
    }

    private void Set(int cap)
    {
        _learned = cap;
        _learnedAt = _shared.Time.GetTimestamp();
        _shared.Memory.RememberCap(_provider.Id, cap < _provider.MaxConnections ? cap : null);
    }
}
