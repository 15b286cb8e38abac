namespace Sluice.Usenet.Nntp.Admission;

/// <summary>The slot under the cap that a closed socket keeps, because the server may still count the socket.</summary>
/// <param name="since">When the pool closed it, in ticks of the time provider.</param>
internal abstract class LeftPlace(long since)
{
    public long Since => since;

    /// <summary>When its slot became free; null while it holds one.</summary>
    public long? FreedAt { get; set; }

    /// <summary>Whether it was reset, after which the server's close cannot be seen.</summary>
    public abstract bool IsReset { get; }

    /// <summary>Whether the server's close was seen. Written before the slot becomes free.</summary>
    public bool WasSeen { get; protected set; }

    /// <summary>Resets the connection to test whether the server notices. The slot stays taken.</summary>
    public abstract void Reset();

    /// <summary>Frees the slot, because the server has proved that it no longer counts the socket.</summary>
    public abstract void Release();
}

/// <summary>
/// The sockets of one account that its pool closed. The close itself does not prove that a slot is free, so a socket that the server may still count keeps its
/// slot. If such slots are needed, occasional trial dials test whether the server has room. A refusal only proves that the server takes no more than all of
/// these together.
/// </summary>
/// <remarks>Used under the lock of the pool, except <see cref="ResetsHelp"/>.</remarks>
internal sealed class LeftSockets(ConnectionCap cap, SharedAdmission shared)
{
    // Minimum pause between trial dials. It grows with the refusals in the last minute, so that a server sees fewer than twenty a minute.
    private static readonly (int Refusals, TimeSpan Pause)[] Pauses =
        [(6, TimeSpan.FromSeconds(1)), (12, TimeSpan.FromSeconds(2)), (int.MaxValue, TimeSpan.FromSeconds(6))];

    // One success may be a coincidence, because another counted socket may have ended at the same moment.
    private const int EnoughResets = 2;

    private static readonly TimeSpan Minute = TimeSpan.FromSeconds(60);

    // A server may close its side shortly before it stops counting the socket.
    private static readonly TimeSpan CloseLag = TimeSpan.FromSeconds(2);

    private readonly List<LeftPlace> _sockets = [];
    private readonly Queue<long> _refusals = new();
    private long? _lastLeft;
    private long? _notBefore;
    private long? _triedResets;
    private int _resetsNoticed;
    private LeftPlace? _reset;
    private bool _isTrial;
    private volatile bool _resetsHelp;

    /// <summary>Whether the server notices a reset sooner than the close of one side.</summary>
    public bool ResetsHelp => _resetsHelp;

    /// <summary>Whether dials must wait for <see cref="Rest"/>; <see cref="EndRest"/> ends this.</summary>
    public bool HoldsUpDials => _notBefore is not null;

    /// <summary>Time until a dial may begin.</summary>
    public TimeSpan Rest => TimeSpan.FromSeconds((double)((_notBefore ?? 0) - shared.Time.GetTimestamp()) / shared.Time.TimestampFrequency);

    private LeftPlace? OldestHeld => _sockets.Find(socket => socket.FreedAt is null);

    private TimeSpan Pause => Array.Find(Pauses, step => _refusals.Count < step.Refusals).Pause;

    /// <summary>Adds a closing socket that the server may still count.</summary>
    public void Add(LeftPlace socket)
    {
        _sockets.RemoveAll(other => other.FreedAt is not null && !MayStillCount(other));
        _sockets.Add(socket);
        _lastLeft = socket.Since;
    }

    public void EndRest() => _notBefore = null;

    /// <summary>Whether to test now if the server has room, although all slots are taken, some perhaps needlessly.</summary>
    /// <param name="again">When to check again without an event; null if only an event can help.</param>
    public bool MayTry(out TimeSpan? again)
    {
        again = null;
        if (OldestHeld is not { } oldest)
            return false;
        var now = shared.Time.GetTimestamp();
        if (Pauses[0].Pause - shared.Time.GetElapsedTime(oldest.Since, now) is var rest && rest > TimeSpan.Zero)
        {
            again = rest;
            return false;
        }

        // Occasionally tests whether the server notices a reset where it ignores a half-close. Uses the newest socket, because the server would count that
        // one longest.
        if (_reset is null && (_triedResets is not { } tried || _resetsNoticed > 0 || shared.Time.GetElapsedTime(tried, now) >= Minute))
        {
            _triedResets = now;
            _reset = _sockets.FindLast(socket => socket.FreedAt is null);
            _reset!.Reset();
            again = shared.Options.CloseGrace;
            _notBefore = After(now, shared.Options.CloseGrace);
            return false;
        }

        _isTrial = true;
        return true;
    }

    /// <summary>Evaluates a successful dial. <paramref name="count"/> is the number of all sockets of the account, including it.</summary>
    public void Opened(int count)
    {
        if (!_isTrial)
            return;
        var tried = _reset;
        (_isTrial, _reset) = (false, null);
        if (count <= cap.Current)
            return;

        // The server had more room than counted, so it has stopped counting one socket: the reset one if any, otherwise the oldest.
        var noticed = tried ?? _sockets.Find(socket => socket is { FreedAt: null, IsReset: true }) ?? OldestHeld;
        if (tried is not null && ++_resetsNoticed == EnoughResets)
        {
            _resetsHelp = true;
            foreach (var socket in _sockets.Where(socket => socket.FreedAt is null && shared.Time.GetElapsedTime(socket.Since) >= shared.Options.CloseGrace))
                socket.Release();
        }

        noticed?.Release();
    }

    /// <summary>Ends the trial without a result: the dial neither connected nor was refused.</summary>
    public void DialFailed() => (_isTrial, _reset) = (false, null);

    /// <summary>Evaluates a refusal. It says nothing about the limit unless one of the counted sockets serves.</summary>
    public void Refused(int counted, int serving)
    {
        var now = shared.Time.GetTimestamp();
        while (_refusals.TryPeek(out var first) && shared.Time.GetElapsedTime(first, now) >= Minute)
            _refusals.Dequeue();
        _refusals.Enqueue(now);
        if (_isTrial)
        {
            (_isTrial, _reset, _resetsHelp, _resetsNoticed) = (false, null, false, 0);
            _notBefore = After(now, Pause);
        }

        if (counted == 0)
            return;
        var proven = Math.Min(cap.Proven, cap.Current);
        if (counted < proven && _sockets.Find(MayStillCount) is { } unnoticed && counted + _sockets.Count(MayStillCount) >= proven)
        {
            // The server has accepted more before, so one socket that it still counts explains the refusal. Each socket explains only one refusal.
            _sockets.Remove(unnoticed);
            (_resetsHelp, _resetsNoticed) = (false, 0);
            _notBefore = After(now, Pause);
            return;
        }

        cap.Refused(counted, isDoubtful: _lastLeft is { } at && shared.Time.GetElapsedTime(at, now) < shared.Options.CloseLimit, isSure: serving > 0);
    }

    // If its close was not seen, the server may count it until the limit.
    private bool MayStillCount(LeftPlace socket) =>
        socket.FreedAt is { } freed
        && (shared.Time.GetElapsedTime(freed) < CloseLag || (!socket.WasSeen && shared.Time.GetElapsedTime(socket.Since) < shared.Options.CloseLimit));

    private long After(long now, TimeSpan pause) => now + (long)(pause.TotalSeconds * shared.Time.TimestampFrequency);
}
