namespace Sluice.Usenet.Nntp;

/// <summary>What the line is worth at the moment.</summary>
/// <param name="Depth">Bodies that a connection takes at a time before it has shown anything.</param>
/// <param name="MostBytes">Bytes that a connection may owe for one more command to be worth it; beyond it a new connection is faster.</param>
/// <param name="StatDepth">STAT commands that a connection takes at a time.</param>
internal readonly record struct LeaseTerms(int Depth, long MostBytes, int StatDepth)
{
    /// <summary>Bodies that a connection takes for readers, whatever the line bears; null: as many as that.</summary>
    public int? PlaybackDepth { get; init; }

    /// <summary>Whether one more connection will serve soon, or could.</summary>
    public bool MoreMayServe { get; init; }

    /// <summary>Most bodies that a connection takes for imports and checks.</summary>
    public int BackgroundDepth { get; init; } = int.MaxValue;

    /// <summary>Bodies of a lane that a connection takes.</summary>
    public int BodiesOn(ConnectionLoad load, OperationLane lane)
    {
        var borne = load.Depth > 0 ? load.Depth : Depth;
        return lane == OperationLane.Playback ? PlaybackDepth ?? borne : Math.Min(borne, BackgroundDepth);
    }
}

/// <summary>
/// Decides which fetch gets which connection of one pool. A pure state machine over loads and waiters: no socket, no timer, no
/// thread of its own.
/// </summary>
/// <remarks>
/// Guarded by the lock of the pool, below which only the limiter's lock is taken. Whenever a command, a connection, a permit or
/// a waiter has come or gone, <see cref="Serve"/> is due.
/// </remarks>
internal sealed class LeaseScheduler(GlobalOperationLimiter limiter, TimeProvider time)
{
    // Beyond this many commands for each connection a further connection brings more than a deeper pipeline. A window that
    // grows has doubled by the time a dial is through, so this is half of what a connection will have to do then.
    private const int CommandsWorthAConnection = 2;

    // A viewer who seeks again and again leaves a rest or two behind at a time; one who leaves a whole window leaves more than the line has room for.
    private const int MostDraining = 3;

    private const int Lanes = 3;

    // With a single connection playback and background take turns, and a turn of the background is no more often than this.
    private static readonly TimeSpan LoneTurn = TimeSpan.FromSeconds(1);

    private readonly List<ConnectionLoad> _open = [];
    private readonly LeaseQueue _waiting = new();
    private readonly LineCeiling _ceiling = new();
    private long? _lastBackground;
    private bool _toldOfBackground;
    private bool _freesPermit;

    /// <summary>Connections that may be given out.</summary>
    public IReadOnlyList<ConnectionLoad> Open => _open;

    /// <summary>Those of them that owe nothing.</summary>
    public IEnumerable<NntpConnection> Idle => _open.Where(load => load.Commands == 0 && !load.IsLeaving).Select(load => load.Connection);

    /// <summary>Fetches that wait.</summary>
    public int Waiting => _waiting.Count;

    /// <summary>Whether some of them are of readers.</summary>
    public bool ReadersWait => _waiting.Count > _waiting.BackgroundCount;

    /// <summary>How soon the background may have more than its share, where it waits for that; null where it does not.</summary>
    public TimeSpan? BackgroundMayGrowIn => _waiting.BackgroundCount > 0 ? limiter.PlaybackEndsIn : null;

    /// <summary>Whether anything waits or is outstanding.</summary>
    public bool IsBusy => _waiting.Count > 0 || _open.Exists(load => load.Commands > 0);

    /// <summary>
    /// How many more connections what waits, what is outstanding and what will probably follow would keep busy: for each lane as many as
    /// its own demand is worth, since two lanes never share one, less its own and those that are idle. One with a late reply does not
    /// count, and one that still reads what is not wanted is no place for the next: a viewer who seeks on would always land behind the
    /// last seek. Never more than there are permits for: the rest would only stand open.
    /// </summary>
    /// <param name="depth">Bodies that a connection takes.</param>
    public int Lacking(int depth)
    {
        Span<int> demand = stackalloc int[Lanes];
        Span<int> own = stackalloc int[Lanes];
        var (idle, alone) = (0, 0);
        foreach (var load in _open)
        {
            if (load.IsLate || load.IsLeaving)
                continue;
            if (load.Commands == 0)
            {
                idle++;
            }
            else if (load.IsAlone)
            {
                alone++;
            }
            else if (load.Unwanted > 0)
            {
                // A reader who has left asks for nothing more.
                demand[(int)load.Lane] += load.Commands - load.Unwanted;
            }
            else
            {
                demand[(int)load.Lane] += load.Commands + load.Following;
                own[(int)load.Lane]++;
            }
        }

        var perConnection = Math.Min(depth, CommandsWorthAConnection);
        var (lacking, sound) = (-idle, idle + alone);
        for (var lane = OperationLane.Playback; lane <= OperationLane.HealthCheck; lane++)
        {
            var waiting = _waiting.CountOf(lane) + demand[(int)lane] + (lane == OperationLane.Playback ? _waiting.Following : 0);
            var useful = Math.Min(((waiting + perConnection - 1) / perConnection) + _waiting.AloneOf(lane), limiter.Most(lane));
            lacking += Math.Max(0, useful - own[(int)lane]);
            sound += own[(int)lane];
        }

        lacking = Math.Min(lacking, limiter.Capacity - sound);

        // What must not come over a connection again may find no other open.
        return _waiting.AvoidsConnections ? lacking + 1 : lacking;
    }

    /// <summary>Encoded bytes that are outstanding.</summary>
    public long Bytes
    {
        get
        {
            long bytes = 0;
            foreach (var load in _open)
                bytes += load.Bytes;
            return bytes;
        }
    }

    /// <summary>Whether the line is busy enough with other connections that have nothing to do but to read what nobody wants.</summary>
    public bool IsDrainingBeside(ConnectionLoad own) =>
        _open.Count(load => load != own && load.Commands > 0 && load.Unwanted >= load.Commands) >= MostDraining - 1;

    public void Add(ConnectionLoad load) => _open.Add(load);

    /// <summary>No lease of it will be given any more.</summary>
    public void Remove(ConnectionLoad load)
    {
        load.IsOpen = false;
        _open.Remove(load);
    }

    /// <summary>Serves a fetch at once, if nobody waits before it.</summary>
    /// <returns>Null when it has to wait.</returns>
    public ConnectionLoad? TryLease(in ArticleRequest request, LeaseTerms terms) =>
        _waiting.HasBefore(request) || !HasRoom(request) ? null : TryPlace(request, terms);

    public void Enqueue(ConnectionLease waiter)
    {
        _waiting.Add(waiter);
        TellLimiter();
    }

    /// <returns>False when it does not wait any more.</returns>
    public bool Withdraw(ConnectionLease waiter)
    {
        var waited = _waiting.Remove(waiter);
        TellLimiter();
        return waited;
    }

    public void Raise(ConnectionLease waiter) => _waiting.Raise(waiter);

    /// <summary>Serves each class in its order until one fetch of it cannot be served.</summary>
    /// <param name="terms">What the line is worth.</param>
    /// <param name="grant">Gives the connection to the waiter.</param>
    public void Serve(LeaseTerms terms, Action<ConnectionLease, ConnectionLoad> grant)
    {
        if (_waiting.Count == 0)
            return;

        // Once the background has a connection, what was spared for it is free for the others.
        while (ServeInOrder(terms, grant) && ReadersWait)
        {
        }

        TellLimiter();
    }

    /// <summary>What a lease was for has ended, or was never sent.</summary>
    /// <returns>The permit of a connection that is idle now, to be disposed outside of the lock; else null.</returns>
    public static OperationPermit? End(ConnectionLoad load, in ArticleRequest request)
    {
        if (!load.IsOpen)
            return null;
        load.Commands--;
        load.Following -= LeaseQueue.FollowingOf(request);
        load.Bytes -= request.ExpectedBytes;
        load.Stats -= request.Stats;
        if (load.Commands > 0)
            return null;
        load.Reader = null;
        load.IsAlone = false;
        return load.TakePermit();
    }

    /// <summary>What this reply owed has ended, and so may what it shows about the line; null shows nothing.</summary>
    public void Measure(PendingReply? reply)
    {
        if (reply is ArticleBody { WasInTime: true })
            Measure(reply.Request.ExpectedBytes, time.GetElapsedTime(reply.LeasedAt), reply.OutstandingAtLease);
    }

    /// <summary>A body has come to its end in time, and what it owed has ended.</summary>
    /// <param name="bytes">Its size.</param>
    /// <param name="took">From its lease to its end.</param>
    /// <param name="outstanding">Bytes that were outstanding when its lease was given, its own included.</param>
    public void Measure(long bytes, TimeSpan took, long outstanding) => _ceiling.Ended(bytes, took.TotalSeconds, outstanding, Bytes);

    /// <summary>Whether a permit has become free for others since the last call, because the background does not wait for it any more.</summary>
    public bool TakeFreesPermit()
    {
        var frees = _freesPermit;
        _freesPermit = false;
        return frees;
    }

    /// <summary>All that wait, in no order.</summary>
    public ConnectionLease[] AllWaiting() => _waiting.All();

    /// <returns>Whether the background was served.</returns>
    private bool ServeInOrder(LeaseTerms terms, Action<ConnectionLease, ConnectionLoad> grant)
    {
        var served = false;
        for (var order = LeaseQueue.Class.Alone; order <= LeaseQueue.Class.Background; order++)
        {
            while (_waiting.TryPeek(order, out var waiter) && HasRoom(waiter.Request) && TryPlace(waiter.Request, terms) is { } load)
            {
                served |= waiter.Request.Lane != OperationLane.Playback;
                _waiting.Served(order, waiter);
                grant(waiter, load);
            }
        }

        return served;
    }

    /// <summary>
    /// Whether one more fetch does more than queue on the wire, where it could not be overtaken. Who waits goes in any case; the
    /// background keeps one command under way however full the line of a viewer is.
    /// </summary>
    private bool HasRoom(in ArticleRequest request) => LeaseQueue.ClassOf(request) switch
    {
        LeaseQueue.Class.Ahead => Bytes < (IsSharedWith(request.Urgency?.Reader) ? _ceiling.Shared : _ceiling.Own),
        LeaseQueue.Class.Background => Bytes < _ceiling.Own || HasNoBackground() || !limiter.IsPlaying,
        _ => true,
    };

    private bool IsSharedWith(object? reader)
    {
        foreach (var load in _open)
        {
            if (load.Reader is { } other && other != reader)
                return true;
        }

        return false;
    }

    /// <summary>Finds the connection that would finish the command first.</summary>
    private ConnectionLoad? TryPlace(in ArticleRequest request, LeaseTerms terms)
    {
        var spared = request.Lane == OperationLane.Playback ? SparedForBackground() : null;
        var (idle, busy, silent) = ConnectionChoice.Of(_open, request, terms, spared);
        if (idle is not null && limiter.TryAcquire(request.Lane) is { } permit)
            return Lease(idle, request, permit);

        if (busy is not null && busy.Bytes <= terms.MostBytes && limiter.MayGoOn(request.Lane))
            return Lease(busy, request);

        // A fetch that can wait for a connection that is being opened is not bound to one that may be dead.
        if (silent is not null && !terms.MoreMayServe && limiter.TryAcquire(request.Lane) is { } late)
            return Lease(silent, request, late);

        // Where imports hold every connection, none of them would ever be idle unless they knew.
        if (request.Lane == OperationLane.Playback)
            limiter.PlaybackWaits();
        return null;
    }

    private ConnectionLoad Lease(ConnectionLoad idle, in ArticleRequest request, OperationPermit permit)
    {
        (idle.Permit, idle.Lane) = (permit, request.Lane);
        return Lease(idle, request);
    }

    private ConnectionLoad Lease(ConnectionLoad load, in ArticleRequest request)
    {
        load.Commands++;
        load.Following += LeaseQueue.FollowingOf(request);
        load.Reader = request.Urgency?.Reader;
        load.Bytes += request.ExpectedBytes;
        load.Stats += request.Stats;
        load.IsAlone = request.IsAlone;
        if (request.Lane != OperationLane.Playback)
            _lastBackground = time.GetTimestamp();
        return load;
    }

    /// <summary>
    /// The connection that playback leaves alone until it is idle, because the background waits and has none. Always the first,
    /// so that one runs dry instead of each a little.
    /// </summary>
    private ConnectionLoad? SparedForBackground()
    {
        if (_open.Count == 0 || !(_waiting.BackgroundCount > 0 ? HasNoBackground() && (MayGrow(OperationLane.Import) || MayGrow(OperationLane.HealthCheck)) : limiter.IsBackgroundStarved))
            return null;
        return _open.Count > 1 || _lastBackground is not { } last || time.GetElapsedTime(last) >= LoneTurn ? _open[0] : null;
    }

    private bool MayGrow(OperationLane lane) => _waiting.CountOf(lane) + _waiting.AloneOf(lane) > 0 && limiter.MayGrow(lane);

    private bool HasNoBackground() => _open.TrueForAll(load => load.Commands == 0 || load.Lane == OperationLane.Playback);

    private void TellLimiter()
    {
        var some = _waiting.BackgroundCount > 0;
        if (some == _toldOfBackground)
            return;
        _toldOfBackground = some;
        _freesPermit |= limiter.BackgroundWaits(this, some);
    }
}
