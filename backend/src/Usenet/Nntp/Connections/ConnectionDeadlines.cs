namespace Sluice.Usenet.Nntp;

/// <summary>
/// The clock of one connection: a reply that stops coming, an unwanted rest that takes too long, an idle socket that is kept
/// alive or closed. One timer serves them all; it is armed for the nearest and looks again when it fires, so that a read costs no timer call.
/// </summary>
internal sealed class ConnectionDeadlines : IAsyncDisposable
{
    private readonly NntpConnection _connection;
    private readonly ReplySilence _silence;
    private readonly NntpOptions _options;
    private readonly GlobalOperationLimiter _limiter;
    private readonly TimeProvider _time;
    private readonly ITimer _timer;
    private readonly Lock _gate = new();

    // Guarded by _gate.
    private TimeSpan _stall;
    private long _armedFor = long.MaxValue;
    private long? _drainSince;
    private bool _leaving;

    public ConnectionDeadlines(NntpConnection connection, ReplySilence silence, SharedResources shared)
    {
        (_connection, _silence) = (connection, silence);
        _options = shared.Options;
        _limiter = shared.Limiter;
        _time = shared.Time;
        _stall = _options.PlaybackStall;
        _timer = _time.CreateTimer(static state => ((ConnectionDeadlines)state!).Check(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        lock (_gate)
            Arm(ShortestIdle);
    }

    /// <summary>A command of this lane is about to be sent.</summary>
    public void Expect(OperationLane lane)
    {
        lock (_gate)
        {
            _drainSince = null;
            _stall = _options.StallOf(lane);
        }
    }

    /// <summary>A reply is outstanding while none was before; by now it may be unwanted again.</summary>
    public void Begin()
    {
        lock (_gate)
        {
            Arm(_silence.IsWatched ? NextLook : _stall);
        }
    }

    /// <summary>From now on a silence is looked for that was not before.</summary>
    public void LookSoon()
    {
        lock (_gate)
            Arm(NextLook);
    }

    /// <summary>From now on the rest is unwanted and has to end soon.</summary>
    public void StartDrain()
    {
        lock (_gate)
        {
            _drainSince ??= _time.GetTimestamp();
            Arm(_options.DrainTime);
        }
    }

    /// <summary>From now on the server has to close soon, because it has been told goodbye.</summary>
    public void StartLeaving()
    {
        lock (_gate)
            _leaving = true;
        StartDrain();
    }

    public ValueTask DisposeAsync() => _timer.DisposeAsync();

    private void Check()
    {
        NntpException? failure = null;
        var retire = false;
        var keepAlive = false;
        var late = false;
        lock (_gate)
        {
            _armedFor = long.MaxValue;
            // Under the lock: a command that comes in between arms the timer after this has.
            var busy = _connection.IsBusy;
            var rest = _silence.Rest;
            TimeSpan next;
            // A connection that owes nothing any more has drained in time, whenever this is noticed.
            if (_drainSince is { } since && (_leaving || _connection.OwesOnlyAbandoned))
            {
                next = _options.DrainTime - _time.GetElapsedTime(since);
                if (next <= TimeSpan.Zero)
                    failure = new NntpException(NntpFault.ConnectionClosed, "What nobody waits for any more took too long to end.");
            }
            else if (busy)
            {
                next = _stall - _silence.Stall;
                if (next <= TimeSpan.Zero)
                    failure = new NntpException(NntpFault.Stalled, $"The server sent nothing useful for {_stall.TotalSeconds:0} seconds.");
                else if (_silence.IsWatched)
                    (late, next) = (_silence.IsLate(out var due), due < next ? due : next);

                // What is behind it may have been moved from connection to connection, each silent, until it had to stay.
                if (late && _silence.IsStuck(_options.DrainTime))
                    failure = new NntpException(NntpFault.ConnectionClosed, "An article that nobody wants any more did not come and held others up.");
            }
            else if (rest >= _options.KeepAliveInterval && IsKeptWarm)
            {
                keepAlive = true;
                next = _stall;
            }
            else
            {
                var wait = rest < _options.KeepAliveInterval ? ShortestIdle : _options.IdleTimeout;
                next = wait - rest;
                retire = rest >= _options.IdleTimeout;
                if (retire)
                    next = _options.DrainTime;
            }

            if (failure is null)
                Arm(next < MinimumWait ? MinimumWait : next);
        }

        if (late)
            _connection.BeLate();
        if (failure is not null)
            _connection.Abort(failure);
        else if (retire)
            _connection.Retire();
        else if (keepAlive)
            _connection.Submit(new KeepAlive());
    }

    /// <summary>Sees to it that there is a look by then; one that is due sooner stands. Under the gate.</summary>
    private void Arm(TimeSpan due)
    {
        var at = _time.GetTimestamp() + (long)(due.TotalSeconds * _time.TimestampFrequency);
        if (_armedFor <= at)
            return;
        _armedFor = at;
        _timer.Change(due, Timeout.InfiniteTimeSpan);
    }

    private bool IsKeptWarm => _options.KeepsWarm && (_limiter.HasPlayedWithin(_options.KeepAliveAfterPlayback) || _connection.IsOfTheFloor);

    private TimeSpan NextLook => _silence.Soonest < _stall ? _silence.Soonest : _stall;

    private TimeSpan ShortestIdle => _options.KeepAliveInterval < _options.IdleTimeout ? _options.KeepAliveInterval : _options.IdleTimeout;

    // Rounding may fire a timer a moment early; this keeps it from firing in a row.
    private static TimeSpan MinimumWait => TimeSpan.FromMilliseconds(5);
}
