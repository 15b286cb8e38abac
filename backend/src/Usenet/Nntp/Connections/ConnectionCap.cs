namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// How many sockets an account takes: what it promises, or less where the server has said "too many". A lower cap is tried upward
/// again, ever more rarely while that is refused, and in steps that double while it succeeds. Pure state of one pool, used under its lock.
/// </summary>
internal sealed class ConnectionCap
{
    private static readonly TimeSpan FirstPatience = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan LongestPatience = TimeSpan.FromMinutes(16);

    // What was learned beside sockets of ours that the server may have counted is doubtful; what has just succeeded will succeed again.
    private static readonly TimeSpan ShortPatience = TimeSpan.FromSeconds(2);

    private readonly SharedResources _shared;
    private ProviderOptions _provider;
    private int _learned;
    private int _untried;
    private int _sure;
    private int _told;
    private int _step = 1;
    private long _learnedAt;
    private TimeSpan _patience = FirstPatience;
    private bool _isTrial;

    public ConnectionCap(ProviderOptions provider, SharedResources shared)
    {
        (_provider, _shared) = (provider, shared);
        _learned = provider.MaxConnections;
        Recall();
    }

    /// <summary>Connections that the settings promise.</summary>
    public int Promised => _provider.MaxConnections;

    /// <summary>Most sockets that the server has taken at a time since it has last refused one.</summary>
    public int Proven { get; private set; }

    /// <summary>As many as the server was found to take; null while that is all that is promised.</summary>
    public int? Learned => _learned < Promised ? _learned : null;

    /// <summary>The cap in force.</summary>
    public int Current
    {
        get
        {
            if (!_isTrial && _learned < Promised && _shared.Time.GetElapsedTime(_learnedAt) >= _patience)
            {
                (_isTrial, _untried) = (true, _learned);
                Set(Math.Min(_learned + _step, Promised));
            }

            return _learned;
        }
    }

    /// <summary>Takes what has been learned before, unless something lower has been learned by now.</summary>
    public void Recall()
    {
        var known = _shared.Memory.CapOf(_provider.Id) ?? Promised;
        _learned = Math.Clamp(Math.Min(known, _learned), 1, Promised);
        _learnedAt = _shared.Time.GetTimestamp();
        _sure = _told = _learned;
    }

    /// <summary>What was learned is not believed any more: all that is promised may be tried.</summary>
    public void Forget()
    {
        (_isTrial, _step, _patience) = (false, 1, FirstPatience);
        Set(Promised);
        _sure = _told = Promised;
    }

    /// <summary>The account promises another number. What is learned stays, unless the promise was all that was known.</summary>
    public void Change(ProviderOptions provider)
    {
        var now = _learned >= Promised ? provider.MaxConnections : Math.Min(_learned, provider.MaxConnections);
        var isNews = now != _learned || provider.Id != _provider.Id;
        _provider = provider;
        if (isNews)
            Set(now);
        _sure = _told = now;
    }

    /// <summary>The server has refused one more while it may have counted this many.</summary>
    /// <param name="counted">Those that are open, being opened or not surely gone; above 0.</param>
    /// <param name="isDoubtful">Whether it may have counted more of ours than that.</param>
    /// <param name="isSure">Whether it takes any.</param>
    public void Refused(int counted, bool isDoubtful, bool isSure)
    {
        if (counted >= _learned)
            return;
        if (!_isTrial)
            _patience = isDoubtful ? ShortPatience : FirstPatience;
        else
            _patience = counted > _untried ? FirstPatience : _patience * 2 < LongestPatience ? _patience * 2 : LongestPatience;
        (_isTrial, _step, Proven) = (false, 1, Math.Min(Proven, counted));
        Set(counted);
        if (isSure)
            Tell();
    }

    /// <summary>The server has refused one while there was no other.</summary>
    public void RefusedAll()
    {
        if (_learned < _sure)
            Set(_sure);
    }

    /// <summary>The server has taken this many.</summary>
    public void Reached(int open)
    {
        Proven = Math.Max(Proven, open);
        _sure = _learned;
        Tell();
        if (!_isTrial || open < _learned)
            return;
        (_isTrial, _step, _patience) = (false, _step * 2, ShortPatience);
    }

    private void Tell()
    {
        if (_isTrial)
            return;
        if (_learned < _told)
            NntpLog.CapLearned(_shared.Logger, _provider.Name, _learned);
        _told = _learned;
    }

    private void Set(int cap)
    {
        _learned = cap;
        _learnedAt = _shared.Time.GetTimestamp();
        _shared.Memory.RememberCap(_provider.Id, cap < Promised ? cap : null);
    }
}
