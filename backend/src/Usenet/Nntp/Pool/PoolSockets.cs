namespace Sluice.Usenet.Nntp;

/// <summary>
/// The sockets of one account against its cap: those that serve, those that are being opened and those that are still closing, because
/// the server counts them all. Says whether one more is worth opening.
/// </summary>
/// <remarks>
/// Guarded by the lock of the pool. What we have closed ourselves teaches nothing: a socket that the server may still count keeps its
/// place, and while such places are wanted a single dial now and then tries whether the server has room by now. A refusal proves no
/// more than that the server takes no more than all of these together.
/// </remarks>
internal sealed class PoolSockets(LeaseScheduler scheduler, ProviderHealth health, ConnectionCap cap, SharedResources shared)
{
    // A trial dial comes no sooner after the last one, and ever later the more refusals there were within the last minute: a server
    // sees less than twenty of them.
    private static readonly (int Refusals, TimeSpan Pause)[] Pauses =
        [(6, TimeSpan.FromSeconds(1)), (12, TimeSpan.FromSeconds(2)), (int.MaxValue, TimeSpan.FromSeconds(6))];

    // Once may be chance: another that was counted may have gone in the same moment.
    private const int EnoughResets = 2;

    private static readonly TimeSpan Minute = TimeSpan.FromSeconds(60);

    // Handshakes that are not through by then are not waited for by others.
    private static readonly TimeSpan FirstRow = TimeSpan.FromSeconds(1);

    // A server may close its side a moment before it counts a socket less.
    private static readonly TimeSpan CountsOn = TimeSpan.FromSeconds(2);

    private readonly List<LeftSocket> _left = [];
    private readonly Queue<long> _refusals = new();
    private int _dialling;
    private long _begunAt;
    private int _beside;
    private int _closing;
    private int _leaving;
    private long? _lastLeft;
    private long? _notBefore;
    private long? _triedResets;
    private int _resetsNoticed;
    private LeftSocket? _reset;
    private bool _isTrial;
    private bool _isClosed;

    /// <summary>All of them.</summary>
    public int Count => scheduler.Open.Count + _dialling + _beside + _closing;

    /// <summary>Whether none serves.</summary>
    public bool NoneIsOpen => scheduler.Open.Count == _leaving;

    /// <summary>Whether none serves, and none is about to.</summary>
    public bool NoneWillServe => NoneIsOpen && _dialling == 0;

    /// <summary>Whether there is none at all that the server could count.</summary>
    public bool HasNone => Count == 0;

    /// <summary>Whether the provider takes no more of them.</summary>
    public bool IsFull => Count >= cap.Current;

    /// <summary>Whether one more will serve soon, or could.</summary>
    public bool MoreMayServe => MayDial || _dialling > 0;

    /// <summary>Whether more serve than the settings allow.</summary>
    public bool IsBeyondCap => scheduler.Open.Count - _leaving > cap.Promised;

    /// <summary>Whether no more serve than are kept though nobody plays.</summary>
    public bool AreOnlyTheFloor => shared.Options.KeepsWarm && scheduler.Open.Count - _leaving <= shared.Options.WarmFloor;

    /// <summary>Whether the server is known to notice a reset sooner than the close of one side.</summary>
    public bool ResetsHelp { get; private set; }

    private bool MayDial => !IsFull && _notBefore is null && CanDial;

    private bool CanDial => health.Resting is null && !_isClosed;

    // A provider that nobody uses is left alone: one that closes what is opened would be dialled for ever.
    private int Floor => shared.Options.KeepsWarm && scheduler.IsBusy ? shared.Options.WarmFloor - (scheduler.Open.Count - _leaving) : 0;

    // The first few are opened at once. Further ones beside those that serve spread the window of a reader over more connections: on a
    // thin line that is not faster, and a seek has to leave more of them.
    private int MostHandshakes => scheduler.ReadersWait
        ? Math.Max(shared.Options.HandshakesPerProvider, shared.Options.MostHandshakesPerProvider - (scheduler.Open.Count - _leaving))
        : shared.Options.HandshakesPerProvider;

    private LeftSocket? OldestHeld => _left.Find(socket => socket.FreedAt is null);

    /// <summary>Begins to open one more where that helps.</summary>
    /// <param name="depth">Bodies that a connection takes.</param>
    /// <param name="again">When to ask again though nothing has happened until then; null: not before something does.</param>
    public bool TryDial(int depth, out TimeSpan? again)
    {
        again = null;
        if (Math.Max(scheduler.Lacking(depth), Floor) <= _dialling || _dialling >= MostHandshakes || !CanDial)
            return false;
        if (_notBefore is { } at && RestUntil(at) is { } rest && rest > TimeSpan.Zero)
        {
            again = rest;
            return false;
        }

        // What becomes of the first row says whether there is room for more.
        if (cap.Proven < MostHandshakes && Count >= MostHandshakes && _dialling > 0 && FirstRow - shared.Time.GetElapsedTime(_begunAt) is var row && row > TimeSpan.Zero)
        {
            again = row;
            return false;
        }

        _notBefore = null;
        if (IsFull && !MayTry(ref again))
            return false;
        BeginDial();
        return true;
    }

    /// <summary>One is being opened.</summary>
    public void BeginDial()
    {
        _dialling++;
        _begunAt = shared.Time.GetTimestamp();
    }

    /// <summary>It is not being opened any more.</summary>
    public void EndDial() => _dialling--;

    /// <summary>A dial may try a second address beside the first where a place is free.</summary>
    public bool TryBeginBeside()
    {
        if (IsFull || _isClosed)
            return false;
        _beside++;
        return true;
    }

    /// <summary>One of the two has ended.</summary>
    public void EndBeside() => _beside--;

    /// <summary>It serves.</summary>
    public void Opened(ConnectionLoad load)
    {
        scheduler.Add(load);
        cap.Reached(scheduler.Open.Count);
        if (!_isTrial)
            return;
        var tried = _reset;
        (_isTrial, _reset) = (false, null);
        if (Count <= cap.Current)
            return;

        // The server had room for one more than could be counted. It has noticed one whose close cannot be seen, else the oldest.
        var noticed = tried ?? _left.Find(socket => socket is { FreedAt: null, IsReset: true }) ?? OldestHeld;
        if (tried is not null && ++_resetsNoticed == EnoughResets)
        {
            ResetsHelp = true;
            foreach (var socket in _left.Where(socket => socket.FreedAt is null && shared.Time.GetElapsedTime(socket.Since) >= shared.Options.CloseGrace))
                socket.Release();
        }

        noticed?.Release();
    }

    /// <summary>A dial has ended otherwise than by a connection or a refusal.</summary>
    public void Failed() => (_isTrial, _reset) = (false, null);

    /// <summary>The server has refused one more.</summary>
    /// <param name="counted">Those that it may have counted beside that one.</param>
    public void Refused(int counted)
    {
        var now = shared.Time.GetTimestamp();
        while (_refusals.TryPeek(out var first) && shared.Time.GetElapsedTime(first, now) >= Minute)
            _refusals.Dequeue();
        _refusals.Enqueue(now);
        if (_isTrial)
        {
            (_isTrial, _reset, ResetsHelp, _resetsNoticed) = (false, null, false, 0);
            _notBefore = After(now, Pause);
        }

        if (counted == 0)
            return;
        var proven = Math.Min(cap.Proven, cap.Current);
        if (counted < proven && _left.Find(MayStillCount) is { } unnoticed && counted + _left.Count(MayStillCount) >= proven)
        {
            // It has taken more before, and each of these explains one refusal.
            _left.Remove(unnoticed);
            (ResetsHelp, _resetsNoticed) = (false, 0);
            _notBefore = After(now, Pause);
            return;
        }

        cap.Refused(counted, isDoubtful: _lastLeft is { } at && shared.Time.GetElapsedTime(at, now) < shared.Options.CloseLimit, isSure: !NoneIsOpen);
    }

    /// <summary>The server has refused the last one too: with none open that says nothing about their number.</summary>
    public void RefusedAll() => cap.RefusedAll();

    /// <summary>The settings of the account have changed.</summary>
    public void Change(ProviderOptions options) => cap.Change(options);

    /// <summary>What has been learned before is there now.</summary>
    public void Recall() => cap.Recall();

    /// <summary>Decides which take nothing more: those of another login, and as many as are too many, idle ones first.</summary>
    /// <returns>Those of them that owe nothing and may close.</returns>
    public NntpConnection[] MarkLeaving(int login)
    {
        foreach (var load in scheduler.Open)
            load.IsLeaving = load.Login != login;
        var staying = scheduler.Open.Where(load => !load.IsLeaving).ToArray();
        foreach (var load in staying.OrderBy(load => load.Commands).Take(Math.Max(0, staying.Length - cap.Promised)))
            load.IsLeaving = true;
        _leaving = scheduler.Open.Count(load => load.IsLeaving);
        return [.. scheduler.Open.Where(load => load is { IsLeaving: true, Commands: 0 }).Select(load => load.Connection)];
    }

    /// <summary>One serves no more, and still counts.</summary>
    public void BeginClose(ConnectionLoad load)
    {
        if (load.IsLeaving)
            _leaving--;
        scheduler.Remove(load);
        _closing++;
    }

    /// <summary>One that never served was closed by us, and still counts.</summary>
    public void BeginClose() => _closing++;

    /// <summary>One of those that are closing was closed by us, and the server may not have noticed.</summary>
    public void Left(LeftSocket socket)
    {
        _left.RemoveAll(other => other.FreedAt is not null && !MayStillCount(other));
        _left.Add(socket);
        _lastLeft = socket.Since;
    }

    /// <summary>The server has noticed, as far as can be known.</summary>
    public void Noticed(LeftSocket socket) => socket.FreedAt = shared.Time.GetTimestamp();

    /// <summary>It is gone.</summary>
    public void EndClose() => _closing--;

    /// <summary>No more are opened.</summary>
    public void Close() => _isClosed = true;

    /// <summary>Whether to try now whether the server has room, although all places are taken: some are held only in case it counts them.</summary>
    private bool MayTry(ref TimeSpan? again)
    {
        if (_dialling > 0 || Count > cap.Current || OldestHeld is not { } oldest)
            return false;
        var now = shared.Time.GetTimestamp();
        if (Pauses[0].Pause - shared.Time.GetElapsedTime(oldest.Since, now) is var rest && rest > TimeSpan.Zero)
        {
            again = rest;
            return false;
        }

        // Now and then a trial finds out whether a reset is noticed where the close of one side is not: with the newest, which the server
        // will count longest if it is not.
        if (_reset is null && (_triedResets is not { } tried || _resetsNoticed > 0 || shared.Time.GetElapsedTime(tried, now) >= Minute))
        {
            _triedResets = now;
            _reset = _left.FindLast(socket => socket.FreedAt is null);
            _reset!.Reset();
            again = shared.Options.CloseGrace;
            _notBefore = After(now, shared.Options.CloseGrace);
            return false;
        }

        _isTrial = true;
        return true;
    }

    // One whose close was not seen may be counted for as long as any.
    private bool MayStillCount(LeftSocket socket) =>
        socket.FreedAt is { } freed && (shared.Time.GetElapsedTime(freed) < CountsOn || (!socket.WasSeen && shared.Time.GetElapsedTime(socket.Since) < shared.Options.CloseLimit));

    private TimeSpan Pause => Array.Find(Pauses, step => _refusals.Count < step.Refusals).Pause;

    private TimeSpan RestUntil(long at) => TimeSpan.FromSeconds((double)(at - shared.Time.GetTimestamp()) / shared.Time.TimestampFrequency);

    private long After(long now, TimeSpan pause) => now + (long)(pause.TotalSeconds * shared.Time.TimestampFrequency);
}
