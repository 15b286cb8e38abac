namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// One limiter for the whole process: how many connections each lane may use at the same time. The lanes are work-conserving:
/// a reservation says what playback always gets back, never what others may not use while nothing plays.
/// </summary>
/// <remarks>
/// Thread-safe. Nothing waits in here: a refused lane waits in its connection pool and is woken by <see cref="Returned"/>, so
/// that a permit is never held while waiting for anything else.
/// </remarks>
public sealed class GlobalOperationLimiter
{
    // A paced player pauses between fetches; its film is still on.
    private static readonly TimeSpan PlaybackLingers = TimeSpan.FromSeconds(2);

    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private int _fixedCapacity;
    private int _streamingPriorityPercent;
    private int _importConnections;
    private readonly int[] _inUse = new int[3];
    private readonly int[] _peak = new int[3];
    private int _allowed;
    private int _capacity;
    private long? _lastPlayback;

    // Who holds fetches of the background that wait.
    private readonly HashSet<object> _backgroundWaits = [];

    /// <summary>Creates a limiter.</summary>
    /// <param name="connections">Most connections in use at a time; 0 = as many as the providers allow together.</param>
    /// <param name="streamingPriorityPercent">0–100: while anything plays, the background lanes together get the rest, but at least one.</param>
    /// <param name="time">Clock; the system's when null.</param>
    /// <param name="importConnections">Most that imports use at a time, however idle the others are; 0 = as many as there are.</param>
    public GlobalOperationLimiter(int connections = 0, int streamingPriorityPercent = 80, TimeProvider? time = null, int importConnections = 0)
    {
        Take(connections, streamingPriorityPercent, importConnections);
        _time = time ?? TimeProvider.System;
    }

    /// <summary>A permit has come back, or the capacity has grown. Raised outside of any lock.</summary>
    internal event Action? Returned;

    /// <summary>Permits that exist.</summary>
    public int Capacity => Volatile.Read(ref _capacity);

    /// <summary>Takes on other limits. What is held beyond them is kept until it is given back.</summary>
    /// <param name="connections">Most connections in use at a time; 0 = as many as the providers allow together.</param>
    /// <param name="streamingPriorityPercent">0–100, as at the start.</param>
    /// <param name="importConnections">Most that imports use at a time; 0 = as many as there are.</param>
    public void Configure(int connections, int streamingPriorityPercent, int importConnections)
    {
        lock (_gate)
            Take(connections, streamingPriorityPercent, importConnections);
        Returned?.Invoke();
    }

    /// <summary>Permits that a lane may hold as things are, were all of them free.</summary>
    internal int Most(OperationLane lane)
    {
        lock (_gate)
        {
            var most = Math.Min(_capacity, Share(lane));
            return lane == OperationLane.Import ? Math.Min(most, _importConnections) : most;
        }
    }

    /// <summary>Permits that a lane holds now.</summary>
    public int InUse(OperationLane lane)
    {
        lock (_gate)
            return _inUse[(int)lane];
    }

    /// <summary>Permits that a lane may hold as things are: those it holds, and those it would get if it asked for more.</summary>
    public int Effective(OperationLane lane)
    {
        lock (_gate)
        {
            var own = _inUse[(int)lane];
            var free = _capacity - InUseByAll;
            var background = lane == OperationLane.Playback ? int.MaxValue : Share(lane) - InUseByBackground;
            if (lane == OperationLane.Import)
                background = Math.Min(background, _importConnections - own);
            return own + Math.Max(0, Math.Min(free, background));
        }
    }

    /// <summary>Most permits that a lane has held at a time.</summary>
    public int Peak(OperationLane lane)
    {
        lock (_gate)
            return _peak[(int)lane];
    }

    /// <summary>Says how many connections the providers allow together; a fixed capacity stays.</summary>
    internal void Allow(int connections)
    {
        lock (_gate)
        {
            _allowed = connections;
            if (_fixedCapacity == 0)
                _capacity = connections;
        }

        Returned?.Invoke();
    }

    /// <summary>Takes a permit if the lane may have one more.</summary>
    /// <returns>Null when it may not.</returns>
    internal OperationPermit? TryAcquire(OperationLane lane)
    {
        lock (_gate)
        {
            if (lane == OperationLane.Playback)
                _lastPlayback = _time.GetTimestamp();
            if (InUseByAll >= _capacity || InUseByBackground >= Share(lane))
                return null;
            if (lane == OperationLane.Import && _inUse[(int)lane] >= _importConnections)
                return null;
            if (lane == OperationLane.Playback && IsStarved && _capacity > 1 && InUseByAll == _capacity - 1)
                return null;

            var inUse = ++_inUse[(int)lane];
            _peak[(int)lane] = Math.Max(_peak[(int)lane], inUse);
            return new OperationPermit(this, lane);
        }
    }

    /// <summary>Whether anything plays; a player may pause between two fetches.</summary>
    internal bool IsPlaying => HasPlayedWithin(PlaybackLingers);

    /// <summary>When nothing will play any more, unless something does until then; null while something does, and when nothing has.</summary>
    internal TimeSpan? PlaybackEndsIn
    {
        get
        {
            lock (_gate)
                return _inUse[(int)OperationLane.Playback] == 0 && Plays(PlaybackLingers) ? PlaybackLingers - _time.GetElapsedTime(_lastPlayback!.Value) : null;
        }
    }

    /// <summary>Whether anything plays, or has played within this time.</summary>
    internal bool HasPlayedWithin(TimeSpan time)
    {
        lock (_gate)
            return Plays(time);
    }

    /// <summary>Whether a lane may put more commands on a connection that it holds already, rather than give it back.</summary>
    internal bool MayGoOn(OperationLane lane)
    {
        lock (_gate)
            return InUseByBackground <= Share(lane);
    }

    /// <summary>Whether the share of a lane leaves room for one more permit, be there one or not.</summary>
    internal bool MayGrow(OperationLane lane)
    {
        lock (_gate)
            return InUseByBackground < Share(lane) && (lane != OperationLane.Import || _inUse[(int)lane] < _importConnections);
    }

    /// <summary>Whether the background waits and has no permit, and none is left: playback gives one up.</summary>
    internal bool IsBackgroundStarved
    {
        get
        {
            lock (_gate)
                return IsStarved && InUseByAll >= _capacity;
        }
    }

    /// <summary>A viewer has found no connection: the background comes down to its share.</summary>
    internal void PlaybackWaits()
    {
        lock (_gate)
            _lastPlayback = _time.GetTimestamp();
    }

    /// <summary>Says whether fetches of the background wait in a queue.</summary>
    /// <returns>Whether a permit was kept for them that is kept no more: <see cref="Wake"/> is due once the caller holds no lock.</returns>
    internal bool BackgroundWaits(object queue, bool some)
    {
        lock (_gate)
        {
            var wasStarved = IsStarved;
            if (some)
                _backgroundWaits.Add(queue);
            else
                _backgroundWaits.Remove(queue);
            return wasStarved && !IsStarved;
        }
    }

    /// <summary>Has the pools ask again for the fetches that wait for a permit.</summary>
    internal void Wake() => Returned?.Invoke();

    internal void Return(OperationLane lane)
    {
        lock (_gate)
        {
            _inUse[(int)lane]--;
            if (lane == OperationLane.Playback)
                _lastPlayback = _time.GetTimestamp();
        }

        Returned?.Invoke();
    }

    private void Take(int connections, int streamingPriorityPercent, int importConnections)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(connections);
        ArgumentOutOfRangeException.ThrowIfNegative(importConnections);
        ArgumentOutOfRangeException.ThrowIfNegative(streamingPriorityPercent);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(streamingPriorityPercent, 100);
        _fixedCapacity = connections;
        _capacity = connections > 0 ? connections : _allowed;
        _streamingPriorityPercent = streamingPriorityPercent;
        _importConnections = importConnections > 0 ? importConnections : int.MaxValue;
    }

    private bool Plays(TimeSpan lingers) =>
        _inUse[(int)OperationLane.Playback] > 0 || (_lastPlayback is { } last && _time.GetElapsedTime(last) < lingers);

    private bool IsStarved => _backgroundWaits.Count > 0 && InUseByBackground == 0;

    private int InUseByAll => _inUse[0] + _inUse[1] + _inUse[2];

    private int InUseByBackground => _inUse[(int)OperationLane.Import] + _inUse[(int)OperationLane.HealthCheck];

    /// <summary>How many permits the background lanes may hold for this lane to get one.</summary>
    private int Share(OperationLane lane)
    {
        if (lane == OperationLane.Playback)
            return int.MaxValue;
        return Plays(PlaybackLingers) ? Math.Max(1, _capacity * (100 - _streamingPriorityPercent) / 100) : int.MaxValue;
    }
}

/// <summary>The use of one connection by one lane. One owner, who disposes it once; a second dispose does nothing.</summary>
public sealed class OperationPermit : IDisposable
{
    private GlobalOperationLimiter? _limiter;

    internal OperationPermit(GlobalOperationLimiter limiter, OperationLane lane)
    {
        _limiter = limiter;
        Lane = lane;
    }

    /// <summary>The lane that holds it.</summary>
    public OperationLane Lane { get; }

    /// <summary>Gives the use back and wakes the pools in which fetches wait for one.</summary>
    public void Dispose() => Interlocked.Exchange(ref _limiter, null)?.Return(Lane);
}
