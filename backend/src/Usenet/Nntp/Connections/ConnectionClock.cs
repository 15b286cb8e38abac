using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>The result of a clock check.</summary>
/// <param name="IsLate">Whether the first reply has become late.</param>
/// <param name="Failure">The reason to close the connection; null to keep it.</param>
internal readonly record struct ConnectionDue(bool IsLate, NntpException? Failure)
{
    /// <summary>Whether the connection has been idle long enough to close.</summary>
    public bool IsIdle { get; init; }

    /// <summary>Whether the connection should stay open but has been idle so long that the server may close it.</summary>
    public bool NeedsKeepAlive { get; init; }
}

/// <summary>
/// All timeouts of one connection. A reply that stays silent first becomes late, so that its article is requested elsewhere too, and later stalled, so that the
/// connection closes. Only progress postpones both: a whole line, or enough body bytes for the elapsed time. The rest of an abandoned reply must end soon, and
/// an idle socket is kept alive or closed. All connections share one timer, so a read costs no timer call.
/// </summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the deadlines. The locks of the replies, the pool and the limiter may be taken under it.</remarks>
internal sealed class ConnectionClock : IAsyncDisposable
{
    // Fewer bytes do not count as progress, because a server that sends one byte a second will not finish.
    private const int MinProgressBytes = 1024;

    private const int TimesUsual = 4;
    private const int RoundTrips = 2;
    private const int Handshakes = 3;

    private readonly PendingReplies _sent;
    private readonly LineEstimate _line;
    private readonly SharedResources _shared;
    private readonly NntpOptions _options;
    private readonly TimeProvider _time;
    private readonly Func<bool> _hasUnread;
    private readonly Func<bool> _isOfTheFloor;
    private readonly Action<ConnectionDue> _act;
    private readonly DeadlineGrid.Deadline _timer;
    private readonly Lock _gate = new();

    // Guarded by _gate.
    private TimeSpan _stall;
    private long? _drainSince;
    private bool _isLeaving;

    // Read loop only.
    private TimeSpan _longest;
    private long _newBytes;

    // hasUnread: bytes have arrived that the read loop has not seen. isOfTheFloor: without this connection the provider would fall below
    // its warm floor. act: called under no lock.
    public ConnectionClock(PendingReplies sent, LineEstimate line, SharedResources shared, Func<bool> hasUnread, Func<bool> isOfTheFloor, Action<ConnectionDue> act)
    {
        (_sent, _line, _shared, _hasUnread, _isOfTheFloor, _act) = (sent, line, shared, hasUnread, isOfTheFloor, act);
        (_options, _time) = (shared.Options, shared.Time);
        _stall = _options.PlaybackStall;
        _timer = shared.Deadlines.Add(OnTimer);
        _timer.Arm(ShortestIdle);
    }

    public bool IsUnusual => Silence(_time.GetTimestamp(), out _) >= SilenceLimit(_line, _options);

    public TimeSpan Rest => _time.GetElapsedTime(_sent.RestsSince);

    /// <summary>How long a connection may be silent before its reply is late, at least <see cref="NntpOptions.HedgeFloor"/> (F11).</summary>
    public static TimeSpan SilenceLimit(LineEstimate line, NntpOptions options)
    {
        var unusual = line.Silences.P95 is { } p95
            ? p95 * TimesUsual
            : TimeSpan.FromSeconds(line.RoundTrip is var roundTrip and > 0 ? RoundTrips * roundTrip : Handshakes * line.Handshake);
        return unusual > options.HedgeFloor ? unusual : options.HedgeFloor;
    }

    /// <summary>Whether the first command after at least this idle time is still unanswered.</summary>
    public bool IsFirstAfter(TimeSpan rest) => _sent.IsFirstAfterRest(TicksOf(rest));

    /// <summary>
    /// Called before a command is sent; its lane sets the stall timeout. If <paramref name="isWanted"/>, a fetch waits for it and any drain ends. A keep-alive
    /// ends no drain, because after a QUIT or the end of a lease the server must still finish in time.
    /// </summary>
    public void Expect(OperationLane lane, bool isWanted)
    {
        lock (_gate)
        {
            if (isWanted)
                _drainSince = null;
            _stall = _options.StallOf(lane);
        }
    }

    /// <summary>Starts the timer for the first outstanding reply, which may already be abandoned.</summary>
    public void Begin()
    {
        lock (_gate)
            _timer.Arm(IsWatched ? NextCheck : _stall);
    }

    /// <summary>Arms the timer for a newly watched silence.</summary>
    public void WatchSoon()
    {
        lock (_gate)
            _timer.Arm(NextCheck);
    }

    /// <summary>Starts the drain timeout: the outstanding replies are abandoned and must end soon.</summary>
    public void StartDrain()
    {
        lock (_gate)
        {
            _drainSince ??= _time.GetTimestamp();
            _timer.Arm(_options.DrainTime);
        }
    }

    /// <summary>Starts the drain timeout after a QUIT, because the server must now close soon.</summary>
    public void StartLeaving()
    {
        lock (_gate)
        {
            _isLeaving = true;
            StartDrain();
        }
    }

    /// <summary>Counts received body bytes, and reports progress once there are enough.</summary>
    /// <param name="now">In ticks of the time provider.</param>
    /// <param name="wereGathered">Whether the bytes arrived over some time, so that the line was not silent since the last bytes.</param>
    public void Received(long bytes, long now, bool wereGathered = false)
    {
        _newBytes += bytes;
        var silence = _time.GetElapsedTime(_sent.SilentSince(roundTrip: 0), now);
        if (_newBytes >= Math.Max(MinProgressBytes, silence.TotalSeconds * _options.MinimumBytesPerSecond))
            Heard(now, wereGathered);
    }

    /// <summary>Reports progress: enough bytes of a body, or a whole line.</summary>
    public void Heard(long now, bool wereGathered = false)
    {
        var length = Silence(now, out _);
        if (length > _longest && !wereGathered)
            _longest = length;
        _newBytes = 0;
        _sent.Heard(now);
        _line.Silences.Heard(now);
    }

    /// <summary>Reports body bytes that the kernel has received but still gathers. Called on any thread.</summary>
    public void Gathered(long now)
    {
        _sent.Heard(now);
        _line.Silences.Heard(now);
    }

    public void Ended()
    {
        _line.Silences.Observe(_longest);
        _longest = TimeSpan.Zero;
    }

    /// <summary>Records the silence of a connection that is being closed, because the usual silence would otherwise be underestimated.</summary>
    public void GivenUp() => _line.Silences.Observe(Silence(_time.GetTimestamp(), out _));

    /// <summary>Whether the outstanding articles should be requested elsewhere. If so, the first reply stays late until it progresses or ends.</summary>
    /// <param name="due">Time until the next check.</param>
    public bool IsLate(out TimeSpan due)
    {
        var limit = SilenceLimit(_line, _options);
        var now = _time.GetTimestamp();
        due = limit - Silence(now, out var since);
        if (due > TimeSpan.Zero)
            return false;

        // If no connection receives anything, another one would be as silent, so only an awaited article is worth a hedge. Unread bytes
        // show that this process is late, not the server.
        due = limit / 2;
        var othersAreHeard = _time.GetElapsedTime(since, _line.Silences.HeardAt) >= limit / 2;
        return (othersAreHeard || _sent.IsAnyAwaited) && !_hasUnread() && _sent.TryMarkLate(now - TicksOf(limit), RoundTrip);
    }

    public ValueTask DisposeAsync() => _timer.DisposeAsync();

    private void OnTimer()
    {
        ConnectionDue due;
        lock (_gate)
        {
            due = FindDue(out var next);
            if (due.Failure is null)
                _timer.Arm(next);
        }

        _act(due);
    }

    private ConnectionDue FindDue(out TimeSpan next)
    {
        if (_drainSince is { } since && (_isLeaving || _sent.OnlyAbandoned))
        {
            next = _options.DrainTime - _time.GetElapsedTime(since);
            return new ConnectionDue(IsLate: false, next > TimeSpan.Zero ? null : Closed("Abandoned replies took too long to arrive."));
        }

        if (!_sent.IsEmpty)
            return FindDueReplies(out next);

        // The connection has drained in time, even if the timer runs late. A keep-alive sent from now on has its own timeout.
        _drainSince = null;
        var rest = Rest;
        if (rest >= _options.KeepAliveInterval && IsKeptWarm)
        {
            next = _stall;
            return new ConnectionDue { NeedsKeepAlive = true };
        }

        var isIdle = rest >= _options.IdleTimeout;
        next = isIdle ? _options.DrainTime : (rest < _options.KeepAliveInterval ? ShortestIdle : _options.IdleTimeout) - rest;
        return new ConnectionDue { IsIdle = isIdle };
    }

    private ConnectionDue FindDueReplies(out TimeSpan next)
    {
        next = _stall - Stall;
        if (next <= TimeSpan.Zero)
            return new ConnectionDue(IsLate: false, new NntpException(NntpFault.Stalled, $"The server sent nothing useful for {_stall.TotalSeconds:0} seconds."));
        if (!IsWatched)
            return default;
        var isLate = IsLate(out var due);
        next = due < next ? due : next;

        // Closes a stuck connection, because the fetches behind the abandoned reply may have no other connection left to move to.
        return new ConnectionDue(isLate, isLate && IsStuck ? Closed("An abandoned article did not arrive and delayed others.") : null);
    }

    // Whether to watch for silence. Without hedging, only while an abandoned reply delays a wanted reply, whose fetch then moves elsewhere.
    private bool IsWatched => _options.HedgeEnabled || _sent.IsHeldUpByAbandoned;

    // Whether an abandoned reply delays another and has been silent for so long that the socket is not worth keeping.
    private bool IsStuck => Silence(_time.GetTimestamp(), out _) is var silence
        && silence >= _options.DrainTime && silence >= SilenceLimit(_line, _options) && _sent.IsHeldUpByAbandoned;

    private bool IsKeptWarm => _options.KeepsWarm && (_shared.Limiter.HasPlayedWithin(_options.KeepAliveAfterPlayback) || _isOfTheFloor());

    // Time until a command sent now could be late.
    private TimeSpan NextCheck => SilenceLimit(_line, _options) + TimeSpan.FromSeconds(_line.RoundTrip) is var soonest && soonest < _stall ? soonest : _stall;

    private TimeSpan ShortestIdle => _options.KeepAliveInterval < _options.IdleTimeout ? _options.KeepAliveInterval : _options.IdleTimeout;

    // Time without progress since the first reply became due; zero if nothing is outstanding.
    private TimeSpan Stall => _sent.SilentSince(roundTrip: 0) is var since and not long.MaxValue ? _time.GetElapsedTime(since) : TimeSpan.Zero;

    private TimeSpan Silence(long now, out long since)
    {
        since = _sent.SilentSince(RoundTrip);
        return _time.GetElapsedTime(since, now);
    }

    private long RoundTrip => (long)(_line.RoundTrip * _time.TimestampFrequency);

    private long TicksOf(TimeSpan span) => (long)(span.TotalSeconds * _time.TimestampFrequency);

    private static NntpException Closed(string reason) => new(NntpFault.ConnectionClosed, reason);
}
