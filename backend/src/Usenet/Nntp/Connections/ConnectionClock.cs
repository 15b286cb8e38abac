using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>What is due on a connection by its clock.</summary>
/// <param name="IsLate">The first reply is late from now on.</param>
/// <param name="Failure">Why the connection is given up; null when it is not.</param>
internal readonly record struct ConnectionDue(bool IsLate, NntpException? Failure)
{
    /// <summary>The connection has rested for so long that it is let go.</summary>
    public bool IsIdle { get; init; }

    /// <summary>The connection has rested for so long that the server may close it, and is kept.</summary>
    public bool NeedsKeepAlive { get; init; }
}

/// <summary>
/// All of time on one connection: how long it has kept silent that owes a reply, what that means, and how long it has rested. A silent
/// connection is late at first, when its article is asked for elsewhere as well, and stalled later, when it is given up; both are moved by
/// progress alone: a whole line, or as many bytes of a body as may be expected in the time. An unwanted rest has to end soon, and an idle
/// socket is kept alive or closed. One timer serves all of these, so that a read costs no timer call.
/// </summary>
/// <remarks>
/// Told by the loops of the connection and by those who send; asked by the timer, at any time. <c>_gate</c> guards the deadlines; the locks
/// of the replies, the pool and the limiter are taken below it.
/// </remarks>
internal sealed class ConnectionClock : IAsyncDisposable
{
    // Fewer bytes are no sign of life: a server that sends one a second will not finish.
    private const int TellingBytes = 1024;

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
    private readonly DeadlineTimer _timer;
    private readonly Lock _gate = new();

    // Guarded by _gate.
    private TimeSpan _stall;
    private long? _drainSince;
    private bool _isLeaving;

    // Read loop only.
    private TimeSpan _longest;
    private long _untold;

    /// <param name="sent">What the connection owes.</param>
    /// <param name="line">What it has shown.</param>
    /// <param name="shared">Limits and the clock.</param>
    /// <param name="hasUnread">Whether bytes have come that the read loop has not seen.</param>
    /// <param name="isOfTheFloor">Whether the provider would have fewer connections than it always shall without this one.</param>
    /// <param name="act">Called under no lock when something is due.</param>
    public ConnectionClock(PendingReplies sent, LineEstimate line, SharedResources shared, Func<bool> hasUnread, Func<bool> isOfTheFloor, Action<ConnectionDue> act)
    {
        (_sent, _line, _shared, _hasUnread, _isOfTheFloor, _act) = (sent, line, shared, hasUnread, isOfTheFloor, act);
        (_options, _time) = (shared.Options, shared.Time);
        _stall = _options.PlaybackStall;
        _timer = new DeadlineTimer(_time, Look);
        _timer.Arm(ShortestIdle);
    }

    /// <summary>Whether the connection has been silent for longer than is usual.</summary>
    public bool IsUnusual => Silence(_time.GetTimestamp(), out _) >= Patience(_line, _options);

    /// <summary>Time since the end of the last reply; meaningless while something is outstanding.</summary>
    public TimeSpan Rest => _time.GetElapsedTime(_sent.RestsSince);

    /// <summary>How long a connection may be silent before its reply is late (F11).</summary>
    /// <param name="line">What the connection or its provider has shown.</param>
    /// <param name="options">The least that it may be.</param>
    public static TimeSpan Patience(LineEstimate line, NntpOptions options)
    {
        var unusual = line.Silences.P95 is { } p95
            ? p95 * TimesUsual
            : TimeSpan.FromSeconds(line.RoundTrip is var roundTrip and > 0 ? RoundTrips * roundTrip : Handshakes * line.Handshake);
        return unusual > options.HedgeFloor ? unusual : options.HedgeFloor;
    }

    /// <summary>Whether nothing has been heard since the first command was sent, after a rest of at least this long.</summary>
    public bool IsFirstAfter(TimeSpan rest) => _sent.IsFirstAfterRest(TicksOf(rest));

    /// <summary>A command of this lane is about to be sent.</summary>
    /// <param name="lane">Says how long a silence is borne.</param>
    /// <param name="isWanted">
    /// Whether a fetch waits for its reply, which ends a drain. A sign of life ends none: where it crosses a goodbye, or the end of a lease
    /// that came in between, the server has to be through in time all the same.
    /// </param>
    public void Expect(OperationLane lane, bool isWanted)
    {
        lock (_gate)
        {
            if (isWanted)
                _drainSince = null;
            _stall = _options.StallOf(lane);
        }
    }

    /// <summary>A reply is outstanding while none was before; by now it may be unwanted again.</summary>
    public void Begin()
    {
        lock (_gate)
            _timer.Arm(IsWatched ? NextLook : _stall);
    }

    /// <summary>From now on a silence is looked for that was not before.</summary>
    public void LookSoon()
    {
        lock (_gate)
            _timer.Arm(NextLook);
    }

    /// <summary>From now on the rest is unwanted and has to end soon.</summary>
    public void StartDrain()
    {
        lock (_gate)
        {
            _drainSince ??= _time.GetTimestamp();
            _timer.Arm(_options.DrainTime);
        }
    }

    /// <summary>From now on the server has to close soon, because it has been told goodbye.</summary>
    public void StartLeaving()
    {
        lock (_gate)
        {
            _isLeaving = true;
            StartDrain();
        }
    }

    /// <summary>Bytes of a body have come.</summary>
    public void Received(long bytes, long now)
    {
        _untold += bytes;
        var silence = _time.GetElapsedTime(_sent.SilentSince(roundTrip: 0), now);
        if (_untold >= Math.Max(TellingBytes, silence.TotalSeconds * _options.MinimumBytesPerSecond))
            Heard(now);
    }

    /// <summary>There was a sign of life: enough bytes of a body, or a whole line.</summary>
    public void Heard(long now)
    {
        var length = Silence(now, out _);
        if (length > _longest)
            _longest = length;
        _untold = 0;
        _sent.Heard(now);
        _line.Silences.Heard(now);
    }

    /// <summary>A body has come to its end.</summary>
    public void Ended()
    {
        _line.Silences.Observe(_longest);
        _longest = TimeSpan.Zero;
    }

    /// <summary>The connection is given up for its silence: that counts towards what is usual, lest too much is given up.</summary>
    public void GivenUp() => _line.Silences.Observe(Silence(_time.GetTimestamp(), out _));

    /// <summary>Whether what the connection owes should be asked for elsewhere. From then on it is late, until a sign of life comes or the reply ends.</summary>
    /// <param name="due">How soon to look again.</param>
    public bool IsLate(out TimeSpan due)
    {
        var patience = Patience(_line, _options);
        var now = _time.GetTimestamp();
        due = patience - Silence(now, out var since);
        if (due > TimeSpan.Zero)
            return false;

        // Where nothing at all comes in, another connection would be as silent: then only what a reader waits for is worth a second
        // question. And bytes that have come and have not been read say that it is this process that is late.
        due = patience / 2;
        var othersAreHeard = _time.GetElapsedTime(since, _line.Silences.HeardAt) >= patience / 2;
        return (othersAreHeard || _sent.IsAnyAwaited) && !_hasUnread() && _sent.TryBeLate(now - TicksOf(patience), RoundTrip);
    }

    public ValueTask DisposeAsync() => _timer.DisposeAsync();

    private void Look()
    {
        ConnectionDue due;
        lock (_gate)
        {
            due = WhatIsDue(out var next);
            if (due.Failure is null)
                _timer.Arm(next);
        }

        _act(due);
    }

    private ConnectionDue WhatIsDue(out TimeSpan next)
    {
        if (_drainSince is { } since && (_isLeaving || _sent.OnlyAbandoned))
        {
            next = _options.DrainTime - _time.GetElapsedTime(since);
            return new ConnectionDue(IsLate: false, next > TimeSpan.Zero ? null : Closed("What nobody waits for any more took too long to end."));
        }

        if (!_sent.IsEmpty)
            return WhatIsDueOfReplies(out next);

        // The connection has drained in time, whenever the clock notices: a sign of life that it is asked for from here on has its own time.
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

    private ConnectionDue WhatIsDueOfReplies(out TimeSpan next)
    {
        next = _stall - Stall;
        if (next <= TimeSpan.Zero)
            return new ConnectionDue(IsLate: false, new NntpException(NntpFault.Stalled, $"The server sent nothing useful for {_stall.TotalSeconds:0} seconds."));
        if (!IsWatched)
            return default;
        var isLate = IsLate(out var due);
        next = due < next ? due : next;

        // What is behind it may have been moved from connection to connection, each silent, until it had to stay.
        return new ConnectionDue(isLate, isLate && IsStuck ? Closed("An article that nobody wants any more did not come and held others up.") : null);
    }

    // Whether a silence is looked for at all. Where nothing is asked for twice it is still, as long as a reply that is not wanted holds up
    // another: what is behind it is asked for elsewhere then.
    private bool IsWatched => _options.HedgeEnabled || _sent.IsHeldUpByAbandoned;

    // Whether a reply that is not wanted holds up another and has been silent for so long that it is not worth its socket.
    private bool IsStuck => Silence(_time.GetTimestamp(), out _) is var silence
        && silence >= _options.DrainTime && silence >= Patience(_line, _options) && _sent.IsHeldUpByAbandoned;

    private bool IsKeptWarm => _options.KeepsWarm && (_shared.Limiter.HasPlayedWithin(_options.KeepAliveAfterPlayback) || _isOfTheFloor());

    // How soon a command that is sent now could be late.
    private TimeSpan NextLook => Patience(_line, _options) + TimeSpan.FromSeconds(_line.RoundTrip) is var soonest && soonest < _stall ? soonest : _stall;

    private TimeSpan ShortestIdle => _options.KeepAliveInterval < _options.IdleTimeout ? _options.KeepAliveInterval : _options.IdleTimeout;

    // Time without progress of the first reply, from when its turn came; zero while nothing is outstanding.
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
