namespace Sluice.Usenet.Nntp.Connections;

/// <summary>How many bodies and STATs go to an unmeasured connection. Beyond MostBytes owed, a new connection is faster.</summary>
internal readonly record struct LeaseTerms(int Depth, long MostBytes, int StatDepth)
{
    /// <summary>Playback bodies per connection as set by the user, whatever was measured; null to use the measured depth.</summary>
    public int? PlaybackDepth { get; init; }

    /// <summary>Whether another connection will serve soon, or may be dialed.</summary>
    public bool MoreMayServe { get; init; }

    public int BackgroundDepth { get; init; } = int.MaxValue;

    private int BodiesOn(ConnectionLoad load, OperationLane lane)
    {
        var borne = load.Depth > 0 ? load.Depth : Depth;
        return lane == OperationLane.Playback ? PlaybackDepth ?? borne : Math.Min(borne, BackgroundDepth);
    }

    public bool HaveRoom(ConnectionLoad load, in ArticleRequest request)
    {
        if (load.IsAlone || request.IsAlone)
            return false;
        return request.Stats == 0 ? load.Commands < BodiesOn(load, request.Lane) : load.Stats + request.Stats <= StatDepth;
    }
}

/// <summary>How busy a connection is. Used under the lock of its pool, except where noted.</summary>
internal sealed class ConnectionLoad(NntpConnection connection, PendingReplies sent)
{
    /// <summary>The login of a distrusted connection: matches no login, so that the connection closes.</summary>
    public const int None = -1;

    private int _unwanted;

    public NntpConnection Connection => connection;

    public bool IsOpen { get; set; } = true;

    /// <summary>The login counter of the pool when this connection was opened, or <see cref="None"/>.</summary>
    public int Login { get; set; }

    /// <summary>Bodies that the connection takes at a time, as measured; 0 while unmeasured.</summary>
    public int Depth { get; set; }

    /// <summary>Leases granted plus replies still to come, abandoned ones included.</summary>
    public int Commands { get; set; }

    /// <summary>
    /// How many of <see cref="Commands"/> are abandoned but not yet read. The abandoning lease and the reading connection count without
    /// the lock, so the value may briefly be off by one.
    /// </summary>
    public int Unwanted => Volatile.Read(ref _unwanted);

    public int Stats { get; set; }

    /// <summary>Encoded bytes that the outstanding replies should bring.</summary>
    public long Bytes { get; set; }

    /// <summary>Articles that the readers of these commands will probably request next.</summary>
    public int Following { get; set; }

    /// <summary>The lane of all its commands, because two lanes never share a busy connection.</summary>
    public OperationLane Lane { get; set; }

    /// <summary>The reader of the last granted lease; null if no reader is owed a reply.</summary>
    public object? Reader { get; set; }

    /// <summary>Whether the first reply is late, so that nothing is placed behind it; a keep-alive if <see cref="Commands"/> is 0.</summary>
    public bool IsLate => sent.IsLate;

    /// <summary>Whether its command must stay the only one outstanding.</summary>
    public bool IsAlone { get; set; }

    /// <summary>Whether the connection closes once it owes nothing, and takes no more commands.</summary>
    public bool IsLeaving { get; set; }

    /// <summary>Held while <see cref="Commands"/> is above 0.</summary>
    public OperationPermit? Permit { get; set; }

    /// <summary>Takes the permit out; the caller disposes it outside the lock. Null if there is none.</summary>
    public OperationPermit? TakePermit()
    {
        var permit = Permit;
        Permit = null;
        return permit;
    }

    /// <summary>Counts an abandoned reply. <see cref="UnwantedEnded"/> follows, or has already been called.</summary>
    public void Abandon() => Interlocked.Increment(ref _unwanted);

    /// <summary>Counts the end of an abandoned reply.</summary>
    public void UnwantedEnded() => Interlocked.Decrement(ref _unwanted);

    public override string ToString() => $"{Commands} commands, {Unwanted} unwanted{(IsLate ? ", late" : "")}{(IsLeaving ? ", leaving" : "")}";
}

/// <summary>The order in which fetches are served, first class first.</summary>
internal enum LeaseClass : byte
{
    /// <summary>A reader waits for a fetch that needs its own connection. It gets the first idle one; others may share busy ones.</summary>
    Alone,

    /// <summary>A reader waits for the article right now.</summary>
    HeadOfLine,

    /// <summary>The article is prefetched: its reader has not reached it yet.</summary>
    Ahead,

    /// <summary>A fetch that needs its own connection, and no reader waits for it.</summary>
    AloneUnwatched,

    /// <summary>Imports and health checks.</summary>
    Background,
}

/// <summary>
/// Decides which fetch gets which connection of one pool. Waiting readers come first, oldest first; then prefetches, shared fairly among
/// readers; then imports and health checks, shared fairly among lanes. It has neither sockets nor timers nor threads.
/// </summary>
/// <remarks>
/// Used under the lock of the pool; below it only the locks of the two limiters are taken. The pool calls <see cref="Serve"/> whenever a
/// command, a connection, a permit or a waiter has come or gone.
/// </remarks>
internal sealed class LeaseScheduler(GlobalOperationLimiter limiter, PacedPool pace, TimeProvider time)
{
    // Above this many commands per connection, another connection helps more than a deeper pipeline. A growing window has doubled by the
    // time a dial completes, so this is half the load that each connection will have then.
    private const int CommandsWorthAConnection = 2;

    // A viewer who seeks repeatedly abandons one or two replies at a time. Abandoning a whole window exceeds the line's capacity.
    private const int MostDraining = 3;

    // The party of a fetch without a reader is its lane, boxed once because every article looks it up.
    private static readonly object[] Lanes = [.. Enum.GetValues<OperationLane>().Cast<object>()];

    // STATs and single unpaced commands never wait for the bandwidth limit, so they form their own party in each lane.
    private static readonly object[] Unpaced = [.. Enum.GetValues<OperationLane>().Cast<object>()];

    // Background order under a bandwidth limit: imports before checks; unpaced commands come after the paced imports.
    private static readonly object[] PacedOrder =
        [Lanes[(int)OperationLane.Import], Unpaced[(int)OperationLane.Import], Unpaced[(int)OperationLane.HealthCheck], Lanes[(int)OperationLane.HealthCheck]];

    // The single party of each class served in order of arrival.
    private static readonly object Everyone = new();

    // With a single connection, the background gets a turn at most this often.
    private static readonly TimeSpan LoneTurn = TimeSpan.FromSeconds(1);

    private readonly List<ConnectionLoad> _open = [];
    private readonly LineCeiling _ceiling = new();

    // One queue per class, and the number of waiters per lane.
    private readonly FairQueue[] _queues = [.. Enum.GetValues<LeaseClass>().Select(_ => new FairQueue())];
    private readonly int[] _sharing = new int[Lanes.Length];
    private readonly int[] _alone = new int[Lanes.Length];
    private int _background;
    private int _following;
    private int _avoiding;
    private long? _lastBackground;
    private bool _reportedBackground;
    private bool _freesPermit;

    // The most urgent lane held up by the bandwidth limit alone, and whether it waits for its turn. _stoodSince is when this began and
    // _stood how long it lasted before, in ticks of the time provider.
    private OperationLane? _held;
    private bool _isNext;
    private long? _stoodSince;
    private long _stood;

    public IReadOnlyList<ConnectionLoad> Open => _open;

    public IEnumerable<NntpConnection> Idle => _open.Where(load => load.Commands == 0 && !load.IsLeaving).Select(load => load.Connection);

    public int Waiting { get; private set; }

    public bool ReadersWait => Waiting > _background;

    /// <summary>When playback ends and the background may exceed its share; null if no background fetch waits.</summary>
    public TimeSpan? BackgroundMayGrowIn => _background > 0 ? limiter.PlaybackEndsIn : null;

    public int Busy => _open.Count(static load => load.Commands > 0);

    /// <summary>Whether more requests would only queue on the line.</summary>
    public bool IsLineFull => _ceiling.IsFull;

    /// <summary>Whether the next fetch waits for the bandwidth limit alone.</summary>
    public bool IsPaced => _held is not null;

    /// <summary>Total ticks for which waits were suspended by the bandwidth limit; no wait counts this time.</summary>
    public long PacedFor(long now) => _stood + (_stoodSince is { } since ? now - since : 0);

    /// <summary>The clock of the waits, in the same ticks. It stands still while the bandwidth limit suspends them.</summary>
    public long WaitTime
    {
        get
        {
            var now = time.GetTimestamp();
            return now - PacedFor(now);
        }
    }

    public bool IsBusy => Waiting > 0 || _open.Exists(load => load.Commands > 0);

    /// <summary>
    /// How many more connections the waiting, outstanding and expected commands would keep busy. Each lane counts separately, because two
    /// lanes never share a connection; its own and the idle connections are subtracted. A connection with a late reply does not count. Nor does
    /// one that drains abandoned replies, because a viewer who seeks again would always land behind the last seek. Limited by the permits,
    /// because more connections would stay unused. Under a bandwidth limit only commands that the open connections cannot serve count.
    /// </summary>
    public int Lacking(int depth)
    {
        Span<int> demand = stackalloc int[Lanes.Length];
        Span<int> own = stackalloc int[Lanes.Length];
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
                // A reader who has left requests nothing more.
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
            var sharing = IsPaced ? 0 : _sharing[(int)lane] + (lane == OperationLane.Playback ? _following : 0);
            var waiting = sharing + demand[(int)lane];
            var useful = Math.Min(((waiting + perConnection - 1) / perConnection) + _alone[(int)lane], limiter.Most(lane));
            lacking += Math.Max(0, useful - own[(int)lane]);
            sound += own[(int)lane];
        }

        lacking = Math.Min(lacking, limiter.Capacity - sound);

        // A fetch that must avoid certain connections needs another one, because the idle ones may be those it avoids.
        return _avoiding > 0 ? Math.Max(lacking + 1, 1) : lacking;
    }

    /// <summary>Encoded bytes outstanding on all connections.</summary>
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

    /// <summary>Whether enough other connections already only drain abandoned replies to fill the line.</summary>
    public bool IsDrainingBeside(ConnectionLoad own) =>
        _open.Count(load => load != own && load.Commands > 0 && load.Unwanted >= load.Commands) >= MostDraining - 1;

    public void Add(ConnectionLoad load) => _open.Add(load);

    public void Remove(ConnectionLoad load)
    {
        load.IsOpen = false;
        _open.Remove(load);
    }

    /// <summary>Serves a fetch at once; null if it has to wait, for example behind others.</summary>
    public ConnectionLoad? TryLease(in ArticleRequest request, LeaseTerms terms) =>
        HasBefore(request) || !HasRoom(request) ? null : TryPlace(request, terms);

    public void Enqueue(ConnectionLease waiter)
    {
        Count(waiter.Request, 1);
        Place(waiter, ClassOf(waiter.Request));
        ReportBackground();
    }

    /// <returns>False if the wait has already ended.</returns>
    public bool Withdraw(ConnectionLease waiter)
    {
        var waited = TryRemove(waiter);
        ReportBackground();
        return waited;
    }

    /// <summary>Moves a prefetch whose reader now waits ahead of all prefetches. Does nothing if it no longer waits here.</summary>
    public void Raise(ConnectionLease waiter)
    {
        if (waiter.Class != LeaseClass.Ahead)
            return;
        QueueOf(LeaseClass.Ahead).Remove(waiter, PartyOf(waiter));
        Place(waiter, LeaseClass.HeadOfLine);
    }

    /// <summary>Serves each class in order, until one of its fetches cannot be served.</summary>
    public void Serve(LeaseTerms terms, Action<ConnectionLease, ConnectionLoad> grant)
    {
        // 1. Forget which lane the bandwidth limit held up.
        // 2. Serve all classes, again whenever the background got a connection, because the one spared for it is then free for readers.
        // 3. Tell the operation limiter whether the background still waits.
        // 4. Tell the bandwidth limiter which lane it holds up.

        // 1.
        _held = null;
        if (Waiting > 0)
        {
            // 2.
            while (ServeInOrder(terms, grant) && ReadersWait)
            {
            }

            // 3.
            ReportBackground();
        }

        // 4.
        ReportPace();
    }

    /// <summary>Removes an ended or never sent command from the counts.</summary>
    /// <returns>The permit if the connection is idle now, to be disposed outside the lock; otherwise null.</returns>
    public static OperationPermit? End(ConnectionLoad load, in ArticleRequest request)
    {
        if (!load.IsOpen)
            return null;
        load.Commands--;
        load.Following -= FollowingOf(request);
        load.Bytes -= request.ExpectedBytes;
        load.Stats -= request.Stats;
        if (load.Commands > 0)
            return null;
        load.Reader = null;
        load.IsAlone = false;
        return load.TakePermit();
    }

    /// <summary>Charges the bandwidth limit for the bytes received. A body in time also shows how full the line is.</summary>
    public void Measure(in ArticleRequest request, PendingReply? reply)
    {
        if (pace.IsLimited && request.Stats == 0)
            pace.Settle(request, reply?.Received ?? 0);
        if (reply is ArticleBody { WasInTime: true, Lease: { } lease })
            Measure(lease.Request.ExpectedBytes, time.GetElapsedTime(lease.GrantedAt), lease.OutstandingAtGrant);
    }

    /// <summary>Measures the line by a finished body and the bytes outstanding when its lease was granted, including its own.</summary>
    public void Measure(long bytes, TimeSpan took, long outstanding) =>
        _ceiling.Ended(bytes, took.TotalSeconds, outstanding, Bytes, (double)time.GetTimestamp() / time.TimestampFrequency);

    /// <summary>Whether a permit became free for others since the last call, because the background no longer waits.</summary>
    public bool TakeFreesPermit()
    {
        var frees = _freesPermit;
        _freesPermit = false;
        return frees;
    }

    public ConnectionLease[] AllWaiting() => [.. _queues.SelectMany(static queue => queue.All())];

    /// <returns>Whether the background was served.</returns>
    private bool ServeInOrder(LeaseTerms terms, Action<ConnectionLease, ConnectionLoad> grant)
    {
        var served = false;
        foreach (var queue in _queues)
        {
            if (queue == QueueOf(LeaseClass.Background) && pace.IsLimited)
                return served | ServePacedBackground(queue, terms, grant);
            while (queue.TryPeek(out var waiter) && HasRoom(waiter.Request) && TryPlace(waiter.Request, terms) is { } load)
            {
                served |= waiter.Request.Lane != OperationLane.Playback;
                queue.Charge(waiter, PartyOf(waiter));
                TryRemove(waiter);
                grant(waiter, load);
            }
        }

        return served;
    }

    private bool ServePacedBackground(FairQueue queue, LeaseTerms terms, Action<ConnectionLease, ConnectionLoad> grant)
    {
        var served = false;
        foreach (var party in PacedOrder)
        {
            while (queue.TryPeek(party, out var waiter) && HasRoom(waiter.Request) && TryPlace(waiter.Request, terms) is { } load)
            {
                served = true;
                TryRemove(waiter);
                grant(waiter, load);
            }
        }

        return served;
    }

    /// <summary>Whether the bandwidth limit lets a command go for which a connection is available.</summary>
    private bool MayAsk(in ArticleRequest request, bool isIdle)
    {
        if (!pace.IsLimited || pace.TryTake(request, Bytes, isIdle, isBehind: _held < request.Lane, out var isNext))
            return true;
        if (!(_held < request.Lane))
            (_held, _isNext) = (request.Lane, isNext);
        return false;
    }

    /// <summary>
    /// Whether one more fetch helps, instead of only queueing on the wire where no other can overtake it. A waiting reader always has room.
    /// The background keeps one command outstanding, however full a viewer's line is.
    /// </summary>
    private bool HasRoom(in ArticleRequest request) => ClassOf(request) switch
    {
        _ when _held == request.Lane && !request.GoesUnpaced => false,
        LeaseClass.Ahead => Bytes < (IsSharedWith(request.Urgency?.Reader) ? _ceiling.Shared : _ceiling.Own),
        LeaseClass.Background => Bytes < _ceiling.Own || HasNoBackground() || !limiter.IsPlaying,
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
        var (idle, busy, silent) = Choose(request, terms, spared);
        if (TryLeaseIdle(idle, request) is { } fresh)
            return fresh;

        if (busy is not null && busy.Bytes <= terms.MostBytes && limiter.MayContinue(request.Lane) && MayAsk(request, isIdle: false))
            return Lease(busy, request);

        // While another connection can be opened, the fetch waits for the new one, because the silent one may be dead.
        if (!terms.MoreMayServe && TryLeaseIdle(silent, request) is { } late)
            return late;

        // Imports that hold every connection must learn of the reader, otherwise they would never leave one idle.
        if (request.Lane == OperationLane.Playback)
            limiter.OnPlaybackWaiting();
        return null;
    }

    /// <summary>
    /// The candidates for one more command, each null if there is none: an idle connection, the busy one of the same lane that owes least,
    /// and an idle one whose keep-alive is late. <paramref name="spared"/> is left to the background.
    /// </summary>
    private (ConnectionLoad? Idle, ConnectionLoad? Busy, ConnectionLoad? Silent) Choose(in ArticleRequest request, LeaseTerms terms, ConnectionLoad? spared)
    {
        ConnectionLoad? idle = null;
        ConnectionLoad? busy = null;
        ConnectionLoad? silent = null;
        foreach (var load in _open)
        {
            if (load == spared || load.IsLeaving || IsAvoided(load, request, terms))
                continue;
            if (load.Commands == 0)
            {
                if (load.IsLate)
                    silent = load;
                else
                    idle = load;
            }
            else if (!load.IsLate && load.Lane == request.Lane && terms.HaveRoom(load, request) && (busy is null || load.Bytes < busy.Bytes))
            {
                busy = load;
            }
        }

        return (idle, busy, silent);
    }

    /// <summary>Whether the article must come over another connection. If no other exists or can be dialed, this one is used.</summary>
    private bool IsAvoided(ConnectionLoad load, in ArticleRequest request, LeaseTerms terms) =>
        request.Avoided is { } avoided && avoided.Contains(load.Connection.Identity) && (terms.MoreMayServe || HasOther(avoided));

    // Separate from the check above, because its lambda would otherwise allocate for every article.
    private bool HasOther(IReadOnlyCollection<object> avoided) => _open.Exists(other => !other.IsLeaving && !avoided.Contains(other.Connection.Identity));

    /// <returns>Null if there is no such connection, or the limit of bandwidth or permits forbids the command.</returns>
    private ConnectionLoad? TryLeaseIdle(ConnectionLoad? idle, in ArticleRequest request)
    {
        if (idle is null || !MayAsk(request, isIdle: true))
            return null;
        if (limiter.TryAcquire(request.Lane) is { } permit)
        {
            (idle.Permit, idle.Lane) = (permit, request.Lane);
            return Lease(idle, request);
        }

        if (pace.IsLimited)
            pace.Settle(request, received: 0);
        return null;
    }

    private ConnectionLoad Lease(ConnectionLoad load, in ArticleRequest request)
    {
        load.Commands++;
        load.Following += FollowingOf(request);
        load.Reader = request.Urgency?.Reader;
        load.Bytes += request.ExpectedBytes;
        load.Stats += request.Stats;
        load.IsAlone = request.IsAlone;
        if (request.Lane != OperationLane.Playback)
            _lastBackground = time.GetTimestamp();
        return load;
    }

    /// <summary>
    /// The connection that playback spares until it is idle, because the background waits and has none. Always the first one,
    /// so that one connection drains completely instead of each a little.
    /// </summary>
    private ConnectionLoad? SparedForBackground()
    {
        if (_open.Count == 0 || !(_background > 0 ? HasNoBackground() && (MayGrow(OperationLane.Import) || MayGrow(OperationLane.HealthCheck)) : limiter.IsBackgroundStarved))
            return null;
        return _open.Count > 1 || _lastBackground is not { } last || time.GetElapsedTime(last) >= LoneTurn ? _open[0] : null;
    }

    private bool MayGrow(OperationLane lane) => _sharing[(int)lane] + _alone[(int)lane] > 0 && limiter.MayGrow(lane);

    private bool HasNoBackground() => _open.TrueForAll(load => load.Commands == 0 || load.Lane == OperationLane.Playback);

    /// <summary>Whether a fetch has to wait behind others.</summary>
    private bool HasBefore(in ArticleRequest request)
    {
        var own = ClassOf(request);
        if (request.IsAlone)
            return !QueueOf(own).IsEmpty;
        return !QueueOf(LeaseClass.HeadOfLine).IsEmpty
            || (own >= LeaseClass.Ahead && !QueueOf(LeaseClass.Ahead).IsEmpty)
            || (own == LeaseClass.Background && !QueueOf(LeaseClass.Background).IsEmpty);
    }

    private void Place(ConnectionLease waiter, LeaseClass at)
    {
        waiter.Class = at;
        QueueOf(at).Add(waiter, PartyOf(waiter));
    }

    /// <returns>False if it no longer waits.</returns>
    private bool TryRemove(ConnectionLease waiter)
    {
        if (waiter.Class is not { } at)
            return false;
        QueueOf(at).Remove(waiter, PartyOf(waiter));
        waiter.Class = null;
        Count(waiter.Request, -1);
        return true;
    }

    private void Count(in ArticleRequest request, int change)
    {
        Waiting += change;
        _background += request.Lane == OperationLane.Playback ? 0 : change;
        (request.IsAlone ? _alone : _sharing)[(int)request.Lane] += change;
        _following += FollowingOf(request) * change;
        _avoiding += request.Avoided is null ? 0 : change;
    }

    private FairQueue QueueOf(LeaseClass order) => _queues[(int)order];

    /// <summary>The class in which a fetch waits, by its current urgency.</summary>
    private static LeaseClass ClassOf(in ArticleRequest request) => request.Lane switch
    {
        _ when request.IsAlone => request.Lane == OperationLane.Playback ? LeaseClass.Alone : LeaseClass.AloneUnwatched,
        OperationLane.Playback => request.Urgency?.IsHeadOfLine == true || request.IsLate ? LeaseClass.HeadOfLine : LeaseClass.Ahead,
        _ => LeaseClass.Background,
    };

    /// <summary>The party that a waiting fetch belongs to within its class.</summary>
    private static object PartyOf(ConnectionLease waiter) => waiter.Class switch
    {
        LeaseClass.Ahead => waiter.Request.Urgency?.Reader ?? Lanes[(int)waiter.Request.Lane],
        LeaseClass.Background => (waiter.Request.GoesUnpaced ? Unpaced : Lanes)[(int)waiter.Request.Lane],
        _ => Everyone,
    };

    private static int FollowingOf(in ArticleRequest request) => request.Urgency?.Following ?? 0;

    /// <summary>Reports which lane the bandwidth limit holds up, and starts or ends the suspension of the waits.</summary>
    private void ReportPace()
    {
        if (pace.IsLimited || pace.Held is not null)
            pace.Tell(_held, _isNext, Bytes);
        if (IsPaced == _stoodSince.HasValue)
            return;
        var now = time.GetTimestamp();
        (_stood, _stoodSince) = (PacedFor(now), IsPaced ? (long?)now : null);
    }

    private void ReportBackground()
    {
        var some = _background > 0;
        if (some == _reportedBackground)
            return;
        _reportedBackground = some;
        _freesPermit |= limiter.ReportBackground(this, some);
    }
}
