namespace Sluice.Usenet.Nntp.Admission;

/// <summary>
/// Limits how many connections each lane may use at once, in the whole process. The limit is work-conserving: playback has reserved connections, but while
/// nothing plays, other lanes may use them all.
/// </summary>
/// <remarks>Thread-safe. A refused lane waits in its connection pool until <see cref="Returned"/>, so that no permit is held during other waits.</remarks>
public sealed class GlobalOperationLimiter
{
    // Playback counts as active for this long after a fetch, because a paced player pauses between fetches.
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

    // The queues in which background fetches wait.
    private readonly HashSet<object> _backgroundWaits = [];

    /// <param name="connections">Maximum number of connections in use at once; 0 for as many as all providers allow together.</param>
    /// <param name="streamingPriorityPercent">0–100: percentage of connections reserved for active playback; the other lanes share at least one.</param>
    /// <param name="importConnections">Maximum number of connections for imports, even if others are idle; 0 for no such limit.</param>
    public GlobalOperationLimiter(int connections = 0, int streamingPriorityPercent = 80, TimeProvider? time = null, int importConnections = 0)
    {
        Take(connections, streamingPriorityPercent, importConnections);
        _time = time ?? TimeProvider.System;
    }

    /// <summary>Raised outside of any lock when a permit was returned or the limits changed.</summary>
    internal event Action? Returned;

    public int Capacity => Volatile.Read(ref _capacity);

    /// <summary>Changes the limits, as in the constructor. Permits held above them stay valid until they are returned.</summary>
    public void Configure(int connections, int streamingPriorityPercent, int importConnections)
    {
        lock (_gate)
            Take(connections, streamingPriorityPercent, importConnections);
        Returned?.Invoke();
    }

    /// <summary>Permits a lane could hold now if all were free.</summary>
    internal int Most(OperationLane lane)
    {
        lock (_gate)
        {
            var most = Math.Min(_capacity, Share(lane));
            return lane == OperationLane.Import ? Math.Min(most, _importConnections) : most;
        }
    }

    public int InUse(OperationLane lane)
    {
        lock (_gate)
            return _inUse[(int)lane];
    }

    /// <summary>Permits a lane may hold now: the ones in use, plus those available to it.</summary>
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

    /// <summary>Highest number of permits a lane has held at once.</summary>
    public int Peak(OperationLane lane)
    {
        lock (_gate)
            return _peak[(int)lane];
    }

    /// <summary>Sets how many connections the providers allow together; ignored if the capacity is fixed.</summary>
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

    /// <summary>Takes a permit; null if the lane may have no more.</summary>
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

    /// <summary>Whether playback is active, including short pauses between two fetches.</summary>
    internal bool IsPlaying => HasPlayedWithin(PlaybackLingers);

    /// <summary>Time until playback counts as ended if no fetch follows; null during a playback fetch, or if nothing played recently.</summary>
    internal TimeSpan? PlaybackEndsIn
    {
        get
        {
            lock (_gate)
                return _inUse[(int)OperationLane.Playback] == 0 && Plays(PlaybackLingers) ? PlaybackLingers - _time.GetElapsedTime(_lastPlayback!.Value) : null;
        }
    }

    /// <summary>Whether playback is active, or was within this time.</summary>
    internal bool HasPlayedWithin(TimeSpan time)
    {
        lock (_gate)
            return Plays(time);
    }

    /// <summary>Whether a lane may send more commands on a connection it holds, rather than return it.</summary>
    internal bool MayContinue(OperationLane lane)
    {
        lock (_gate)
            return InUseByBackground <= Share(lane);
    }

    /// <summary>Whether the lane's share allows one more permit, even if none is free.</summary>
    internal bool MayGrow(OperationLane lane)
    {
        lock (_gate)
            return InUseByBackground < Share(lane) && (lane != OperationLane.Import || _inUse[(int)lane] < _importConnections);
    }

    /// <summary>Whether the background waits without a permit while none is left, so that playback should release one.</summary>
    internal bool IsBackgroundStarved
    {
        get
        {
            lock (_gate)
                return IsStarved && InUseByAll >= _capacity;
        }
    }

    /// <summary>Reduces the background to its share, because a viewer found no connection.</summary>
    internal void OnPlaybackWaiting()
    {
        lock (_gate)
            _lastPlayback = _time.GetTimestamp();
    }

    /// <summary>Records whether background fetches wait in a queue.</summary>
    /// <returns>Whether a permit reserved for them became free, so that the caller must call <see cref="Wake"/> outside its locks.</returns>
    internal bool ReportBackground(object queue, bool some)
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

    /// <summary>Lets the pools retry the fetches that wait for a permit.</summary>
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

    /// <summary>Number of permits at which the background lanes together refuse this lane.</summary>
    private int Share(OperationLane lane)
    {
        if (lane == OperationLane.Playback)
            return int.MaxValue;
        return Plays(PlaybackLingers) ? Math.Max(1, _capacity * (100 - _streamingPriorityPercent) / 100) : int.MaxValue;
    }
}

/// <summary>The use of one connection by one lane. Its owner disposes it; a second dispose does nothing.</summary>
public sealed class OperationPermit : IDisposable
{
    private GlobalOperationLimiter? _limiter;

    internal OperationPermit(GlobalOperationLimiter limiter, OperationLane lane)
    {
        _limiter = limiter;
        Lane = lane;
    }

    public OperationLane Lane { get; }

    /// <summary>Returns the permit and wakes the pools with fetches that wait for a permit.</summary>
    public void Dispose() => Interlocked.Exchange(ref _limiter, null)?.Return(Lane);
}
