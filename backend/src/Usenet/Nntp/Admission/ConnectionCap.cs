namespace Sluice.Usenet.Nntp.Admission;

/// <summary>
/// The number of sockets an account may open: as promised, or fewer if the server refused more. A lower cap is raised again by trials: less and less often
/// while the server refuses, and in doubling steps while it accepts. Used under the lock of one pool.
/// </summary>
internal sealed class ConnectionCap
{
    private static readonly TimeSpan FirstRetryDelay = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan LongestRetryDelay = TimeSpan.FromMinutes(16);

    // Delay after a doubtful cap, learned while the server may have counted closed sockets. Also used after a success, because another is likely.
    private static readonly TimeSpan ShortRetryDelay = TimeSpan.FromSeconds(2);

    private readonly SharedAdmission _shared;
    private ProviderOptions _provider;
    private int _learned;
    private int _untried;
    private int _sure;
    private int _logged;
    private int _step = 1;
    private long _learnedAt;
    private TimeSpan _retryDelay = FirstRetryDelay;
    private bool _isTrial;

    public ConnectionCap(ProviderOptions provider, SharedAdmission shared)
    {
        (_provider, _shared) = (provider, shared);
        _learned = provider.MaxConnections;
        Recall();
    }

    public int Promised => _provider.MaxConnections;

    /// <summary>Maximum number of sockets that the server has accepted at once since its last refusal.</summary>
    public int Proven { get; private set; }

    /// <summary>The learned cap; null if the server allows all promised connections.</summary>
    public int? Learned => _learned < Promised ? _learned : null;

    /// <summary>The cap in force. Reading it may begin a trial of a higher one.</summary>
    public int Current
    {
        get
        {
            if (!_isTrial && _learned < Promised && _shared.Time.GetElapsedTime(_learnedAt) >= _retryDelay)
            {
                (_isTrial, _untried) = (true, _learned);
                Set(Math.Min(_learned + _step, Promised));
            }

            return _learned;
        }
    }

    /// <summary>Applies the remembered cap, unless a lower one has been learned since.</summary>
    public void Recall()
    {
        var known = _shared.Memory.CapOf(_provider.Id) ?? Promised;
        _learned = Math.Clamp(Math.Min(known, _learned), 1, Promised);
        _learnedAt = _shared.Time.GetTimestamp();
        _sure = _logged = _learned;
    }

    /// <summary>Forgets the learned cap, so that all promised connections may be tried.</summary>
    public void Forget()
    {
        (_isTrial, _step, _retryDelay) = (false, 1, FirstRetryDelay);
        Set(Promised);
        _sure = _logged = Promised;
    }

    /// <summary>Applies another promised number. Keeps a learned cap unless it equaled the old promise.</summary>
    public void Change(ProviderOptions provider)
    {
        var now = _learned >= Promised ? provider.MaxConnections : Math.Min(_learned, provider.MaxConnections);
        var isNews = now != _learned || provider.Id != _provider.Id;
        _provider = provider;
        if (isNews)
            Set(now);
        _sure = _logged = now;
    }

    /// <summary>Lowers the cap after a refusal.</summary>
    /// <param name="counted">Sockets that the server may have counted: open, opening, or closed but perhaps still counted; above 0.</param>
    /// <param name="isDoubtful">Whether the server may have counted further sockets of this account.</param>
    /// <param name="isSure">Whether the server accepts any connection at all.</param>
    public void Refused(int counted, bool isDoubtful, bool isSure)
    {
        if (counted >= _learned)
            return;
        if (!_isTrial)
            _retryDelay = isDoubtful ? ShortRetryDelay : FirstRetryDelay;
        else
            _retryDelay = counted > _untried ? FirstRetryDelay : _retryDelay * 2 < LongestRetryDelay ? _retryDelay * 2 : LongestRetryDelay;
        (_isTrial, _step, Proven) = (false, 1, Math.Min(Proven, counted));
        Set(counted);
        if (isSure)
            LogCap();
    }

    /// <summary>Restores the last certain cap, because the server refused a connection while no other was open.</summary>
    public void RefusedAll()
    {
        if (_learned < _sure)
            Set(_sure);
    }

    public void Reached(int open)
    {
        Proven = Math.Max(Proven, open);
        _sure = _learned;
        LogCap();
        if (!_isTrial || open < _learned)
            return;
        (_isTrial, _step, _retryDelay) = (false, _step * 2, ShortRetryDelay);
    }

    private void LogCap()
    {
        if (_isTrial)
            return;
        if (_learned < _logged)
            NntpLog.CapLearned(_shared.Logger, _provider.Name, _learned);
        _logged = _learned;
    }

    private void Set(int cap)
    {
        _learned = cap;
        _learnedAt = _shared.Time.GetTimestamp();
        _shared.Memory.RememberCap(_provider.Id, cap < Promised ? cap : null);
    }
}
