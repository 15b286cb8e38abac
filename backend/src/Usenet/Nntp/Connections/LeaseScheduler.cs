namespace Sluice.Usenet.Nntp.Connections;

/// <summary>How much is placed on a connection at the moment: the depth of its pipeline, and when a new connection is faster.</summary>
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
    private int BodiesOn(ConnectionLoad load, OperationLane lane)
    {
        var borne = load.Depth > 0 ? load.Depth : Depth;
        return lane == OperationLane.Playback ? PlaybackDepth ?? borne : Math.Min(borne, BackgroundDepth);
    }

    /// <summary>Whether a busy connection takes one more command beside those that it has.</summary>
    public bool HaveRoom(ConnectionLoad load, in ArticleRequest request)
    {
        if (load.IsAlone || request.IsAlone)
            return false;
        return request.Stats == 0 ? load.Commands < BodiesOn(load, request.Lane) : load.Stats + request.Stats <= StatDepth;
    }
}

/// <summary>How busy a connection is, as its pool sees it. Pure state, used under the lock of that pool but for what says otherwise.</summary>
/// <param name="connection">The connection that bears it.</param>
/// <param name="sent">What it owes, whether in time or late.</param>
internal sealed class ConnectionLoad(NntpConnection connection, PendingReplies sent)
{
    /// <summary>The login of a connection that is to close though its account has not changed.</summary>
    public const int None = -1;

    private int _unwanted;

    /// <summary>The connection that bears it.</summary>
    public NntpConnection Connection => connection;

    /// <summary>Whether leases may be given.</summary>
    public bool IsOpen { get; set; } = true;

    /// <summary>Which login of its account it was opened with; <see cref="None"/> if nothing more is to be asked here.</summary>
    public int Login { get; set; }

    /// <summary>Bodies that it takes at a time, by what it has shown; 0 while it has shown nothing.</summary>
    public int Depth { get; set; }

    /// <summary>Leases given and replies still to come, unwanted ones included.</summary>
    public int Commands { get; set; }

    /// <summary>
    /// Those of <see cref="Commands"/> that have been given up while their replies are still to come. Counted without the lock, by the
    /// lease that gives one up and by the connection that reads it to its end; for a moment it may be one off.
    /// </summary>
    public int Unwanted => Volatile.Read(ref _unwanted);

    /// <summary>STAT commands of these leases.</summary>
    public int Stats { get; set; }

    /// <summary>Encoded bytes that these replies are expected to bring.</summary>
    public long Bytes { get; set; }

    /// <summary>Articles that their readers will probably ask for next.</summary>
    public int Following { get; set; }

    /// <summary>The lane of all of them; two lanes never share a busy connection.</summary>
    public OperationLane Lane { get; set; }

    /// <summary>On whose behalf the last of them was given; null while no reader is owed anything.</summary>
    public object? Reader { get; set; }

    /// <summary>
    /// Whether its first reply is late: nothing more is placed behind it. Not while nothing is outstanding; with
    /// <see cref="Commands"/> at 0 that is a sign of life.
    /// </summary>
    public bool IsLate => sent.IsLate;

    /// <summary>Whether its command is to be the only one outstanding.</summary>
    public bool IsAlone { get; set; }

    /// <summary>Whether it is to close as soon as it owes nothing; nothing more is placed here.</summary>
    public bool IsLeaving { get; set; }

    /// <summary>Held while <see cref="Commands"/> is above 0.</summary>
    public OperationPermit? Permit { get; set; }

    /// <summary>Takes the permit out, for its new owner to dispose outside of the lock; null when there is none.</summary>
    public OperationPermit? TakePermit()
    {
        var permit = Permit;
        Permit = null;
        return permit;
    }

    /// <summary>A reply is not wanted any more; <see cref="UnwantedEnded"/> follows, or has come.</summary>
    public void Abandon() => Interlocked.Increment(ref _unwanted);

    /// <summary>A reply that was not wanted any more has ended.</summary>
    public void UnwantedEnded() => Interlocked.Decrement(ref _unwanted);

    /// <inheritdoc/>
    public override string ToString() => $"{Commands} commands, {Unwanted} unwanted{(IsLate ? ", late" : "")}{(IsLeaving ? ", leaving" : "")}";
}

/// <summary>Which fetches come before which, the first before all others.</summary>
internal enum LeaseClass : byte
{
    /// <summary>A reader waits for a fetch that needs a connection for itself: it takes the first idle one, and the others go before it to those that are busy.</summary>
    Alone,

    /// <summary>A reader waits for the article right now.</summary>
    HeadOfLine,

    /// <summary>A reader will come to the article: it is fetched ahead.</summary>
    Ahead,

    /// <summary>A fetch that needs a connection for itself, and that no reader waits for.</summary>
    AloneUnwatched,

    /// <summary>Imports and health checks.</summary>
    Background,
}

/// <summary>
/// Decides which fetch gets which connection of one pool: readers that wait, oldest first; what is fetched ahead, fairly by reader;
/// imports and health checks, fairly by lane. A pure state machine over loads and waiters: no socket, no timer, no thread of its own.
/// </summary>
/// <remarks>
/// Used under the lock of the pool, below which only the locks of the two limiters are taken. Whenever a command, a connection, a permit or
/// a waiter has come or gone, <see cref="Serve"/> is due.
/// </remarks>
internal sealed class LeaseScheduler(GlobalOperationLimiter limiter, PacedPool pace, TimeProvider time)
{
    // Beyond this many commands for each connection a further connection brings more than a deeper pipeline. A window that
    // grows has doubled by the time a dial is through, so this is half of what a connection will have to do then.
    private const int CommandsWorthAConnection = 2;

    // A viewer who seeks again and again leaves a rest or two behind at a time; one who leaves a whole window leaves more than the line has room for.
    private const int MostDraining = 3;

    // A fetch without a reader belongs to its lane; boxed once, because it is looked at for every article.
    private static readonly object[] Lanes = [.. Enum.GetValues<OperationLane>().Cast<object>()];

    // Questions about articles, and for one now and then, which never wait for the limit of bandwidth: a party for themselves in each lane.
    private static readonly object[] Unpaced = [.. Enum.GetValues<OperationLane>().Cast<object>()];

    // The background in its order where bandwidth is limited: imports, then checks, and what is not paced behind the imports that are.
    private static readonly object[] PacedOrder =
        [Lanes[(int)OperationLane.Import], Unpaced[(int)OperationLane.Import], Unpaced[(int)OperationLane.HealthCheck], Lanes[(int)OperationLane.HealthCheck]];

    // The only party of each class whose waiters are served in the order of their coming.
    private static readonly object Everyone = new();

    // With a single connection playback and background take turns, and a turn of the background is no more often than this.
    private static readonly TimeSpan LoneTurn = TimeSpan.FromSeconds(1);

    private readonly List<ConnectionLoad> _open = [];
    private readonly LineCeiling _ceiling = new();

    // What waits: one queue for each class, and how many of them are of which lane.
    private readonly FairQueue[] _queues = [.. Enum.GetValues<LeaseClass>().Select(_ => new FairQueue())];
    private readonly int[] _sharing = new int[Lanes.Length];
    private readonly int[] _alone = new int[Lanes.Length];
    private int _background;
    private int _following;
    private int _avoiding;
    private long? _lastBackground;
    private bool _toldOfBackground;
    private bool _freesPermit;

    // The most urgent lane whose fetches were found to wait for the limit of bandwidth alone, and whether for their turn; since when there is
    // one, and how long there was one before, in ticks of the time provider.
    private OperationLane? _held;
    private bool _isNext;
    private long? _stoodSince;
    private long _stood;

    /// <summary>Connections that may be given out.</summary>
    public IReadOnlyList<ConnectionLoad> Open => _open;

    /// <summary>Those of them that owe nothing.</summary>
    public IEnumerable<NntpConnection> Idle => _open.Where(load => load.Commands == 0 && !load.IsLeaving).Select(load => load.Connection);

    /// <summary>Fetches that wait.</summary>
    public int Waiting { get; private set; }

    /// <summary>Whether some of them are of readers.</summary>
    public bool ReadersWait => Waiting > _background;

    /// <summary>How soon the background may have more than its share, where it waits for that; null where it does not.</summary>
    public TimeSpan? BackgroundMayGrowIn => _background > 0 ? limiter.PlaybackEndsIn : null;

    /// <summary>Connections that owe a reply.</summary>
    public int Busy => _open.Count(static load => load.Commands > 0);

    /// <summary>Whether the line carries no more than is asked for already.</summary>
    public bool IsLineFull => _ceiling.IsFull;

    /// <summary>Whether what comes next waits for the limit of bandwidth alone.</summary>
    public bool IsPaced => _held is not null;

    /// <summary>For how long that was so up to now, in ticks of the time provider: no wait counts that time.</summary>
    public long PacedFor(long now) => _stood + (_stoodSince is { } since ? now - since : 0);

    /// <summary>The time by which fetches wait, in the same ticks: it stands still as long as that is so.</summary>
    public long WaitTime
    {
        get
        {
            var now = time.GetTimestamp();
            return now - PacedFor(now);
        }
    }

    /// <summary>Whether anything waits or is outstanding.</summary>
    public bool IsBusy => Waiting > 0 || _open.Exists(load => load.Commands > 0);

    /// <summary>
    /// How many more connections what waits, what is outstanding and what will probably follow would keep busy: for each lane as many as
    /// its own demand is worth, since two lanes never share one, less its own and those that are idle. One with a late reply does not
    /// count, and one that still reads what is not wanted is no place for the next: a viewer who seeks on would always land behind the
    /// last seek. Never more than there are permits for: the rest would only stand open. And where what waits does so for the limit of
    /// bandwidth, only for what the open ones cannot serve.
    /// </summary>
    /// <param name="depth">Bodies that a connection takes.</param>
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
            var sharing = IsPaced ? 0 : _sharing[(int)lane] + (lane == OperationLane.Playback ? _following : 0);
            var waiting = sharing + demand[(int)lane];
            var useful = Math.Min(((waiting + perConnection - 1) / perConnection) + _alone[(int)lane], limiter.Most(lane));
            lacking += Math.Max(0, useful - own[(int)lane]);
            sound += own[(int)lane];
        }

        lacking = Math.Min(lacking, limiter.Capacity - sound);

        // What must not come over a connection again may find no other open: those that are idle are of no use to it.
        return _avoiding > 0 ? Math.Max(lacking + 1, 1) : lacking;
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

    /// <summary>Whether the line is busy enough with other connections that have nothing to do but to read what is not wanted any more.</summary>
    public bool IsDrainingBeside(ConnectionLoad own) =>
        _open.Count(load => load != own && load.Commands > 0 && load.Unwanted >= load.Commands) >= MostDraining - 1;

    public void Add(ConnectionLoad load) => _open.Add(load);

    /// <summary>No lease of it will be given any more.</summary>
    public void Remove(ConnectionLoad load)
    {
        load.IsOpen = false;
        _open.Remove(load);
    }

    /// <summary>Serves a fetch at once, if none waits before it.</summary>
    /// <returns>Null when it has to wait.</returns>
    public ConnectionLoad? TryLease(in ArticleRequest request, LeaseTerms terms) =>
        HasBefore(request) || !HasRoom(request) ? null : TryPlace(request, terms);

    /// <summary>A fetch waits from now on.</summary>
    public void Enqueue(ConnectionLease waiter)
    {
        Count(waiter.Request, 1);
        Place(waiter, ClassOf(waiter.Request));
        TellLimiter();
    }

    /// <returns>False when it does not wait any more.</returns>
    public bool Withdraw(ConnectionLease waiter)
    {
        var waited = TryRemove(waiter);
        TellLimiter();
        return waited;
    }

    /// <summary>A reader has come to wait for it: it goes before all that is fetched ahead. Nothing happens when it does not wait here any more.</summary>
    public void Raise(ConnectionLease waiter)
    {
        if (waiter.Class != LeaseClass.Ahead)
            return;
        QueueOf(LeaseClass.Ahead).Remove(waiter, PartyOf(waiter));
        Place(waiter, LeaseClass.HeadOfLine);
    }

    /// <summary>Serves each class in its order until one fetch of it cannot be served.</summary>
    /// <param name="terms">What the line is worth.</param>
    /// <param name="grant">Gives the connection to the waiter.</param>
    public void Serve(LeaseTerms terms, Action<ConnectionLease, ConnectionLoad> grant)
    {
        _held = null;
        if (Waiting > 0)
        {
            // Once the background has a connection, what was spared for it is free for the others.
            while (ServeInOrder(terms, grant) && ReadersWait)
            {
            }

            TellLimiter();
        }

        TellPace();
    }

    /// <summary>A command has ended, or its lease was given back without one.</summary>
    /// <returns>The permit of a connection that is idle now, to be disposed outside of the lock; else null.</returns>
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

    /// <summary>
    /// A command has ended: what has come settles what was foreseen, and a body that came in time shows how full the line is.
    /// </summary>
    /// <param name="request">What it asked for.</param>
    /// <param name="reply">Null where there was none.</param>
    public void Measure(in ArticleRequest request, PendingReply? reply)
    {
        if (pace.IsLimited && request.Stats == 0)
            pace.Settle(request, reply?.Received ?? 0);
        if (reply is ArticleBody { WasInTime: true, Lease: { } lease })
            Measure(lease.Request.ExpectedBytes, time.GetElapsedTime(lease.GrantedAt), lease.OutstandingAtGrant);
    }

    /// <summary>A body has come to its end in time, and is not outstanding any more.</summary>
    /// <param name="bytes">Its size.</param>
    /// <param name="took">From its lease to its end.</param>
    /// <param name="outstanding">Bytes that were outstanding when its lease was given, its own included.</param>
    public void Measure(long bytes, TimeSpan took, long outstanding) =>
        _ceiling.Ended(bytes, took.TotalSeconds, outstanding, Bytes, (double)time.GetTimestamp() / time.TimestampFrequency);

    /// <summary>Whether a permit has become free for others since the last call, because the background does not wait for it any more.</summary>
    public bool TakeFreesPermit()
    {
        var frees = _freesPermit;
        _freesPermit = false;
        return frees;
    }

    /// <summary>All that wait, in no order.</summary>
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

    /// <returns>Whether any of it was served.</returns>
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

    /// <summary>Whether the limit of bandwidth lets a command go that a connection would take.</summary>
    private bool MayAsk(in ArticleRequest request, bool isIdle)
    {
        if (!pace.IsLimited || pace.TryTake(request, Bytes, isIdle, isBehind: _held < request.Lane, out var isNext))
            return true;
        if (!(_held < request.Lane))
            (_held, _isNext) = (request.Lane, isNext);
        return false;
    }

    /// <summary>
    /// Whether one more fetch does more than queue on the wire, where it could not be overtaken. Who waits goes in any case; the
    /// background keeps one command under way however full the line of a viewer is.
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

        if (busy is not null && busy.Bytes <= terms.MostBytes && limiter.MayGoOn(request.Lane) && MayAsk(request, isIdle: false))
            return Lease(busy, request);

        // A fetch that can wait for a connection that is being opened is not bound to one that may be dead.
        if (!terms.MoreMayServe && TryLeaseIdle(silent, request) is { } late)
            return late;

        // Where imports hold every connection, none of them would ever be idle unless they knew.
        if (request.Lane == OperationLane.Playback)
            limiter.PlaybackWaits();
        return null;
    }

    /// <summary>
    /// The connections worth considering for one more command: one that is idle, the busy one of its lane that owes least, and an idle one
    /// whose sign of life is late. Each is null where there is none.
    /// </summary>
    /// <param name="request">What is to be sent; two lanes never share a busy connection.</param>
    /// <param name="terms">What a connection takes at a time.</param>
    /// <param name="spared">Not for this lane now; null for none.</param>
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

    /// <summary>Whether another connection must bring the article; where there is none and none can be had, this one does.</summary>
    private bool IsAvoided(ConnectionLoad load, in ArticleRequest request, LeaseTerms terms) =>
        request.Avoided is { } avoided && avoided.Contains(load.Connection.Identity) && (terms.MoreMayServe || HasOther(avoided));

    // Apart from the question above, which is asked for each article and must not allocate.
    private bool HasOther(IReadOnlyCollection<object> avoided) => _open.Exists(other => !other.IsLeaving && !avoided.Contains(other.Connection.Identity));

    /// <returns>Null when there is none, or the limits of bandwidth or of permits do not let it go.</returns>
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
    /// The connection that playback leaves alone until it is idle, because the background waits and has none. Always the first,
    /// so that one runs dry instead of each a little.
    /// </summary>
    private ConnectionLoad? SparedForBackground()
    {
        if (_open.Count == 0 || !(_background > 0 ? HasNoBackground() && (MayGrow(OperationLane.Import) || MayGrow(OperationLane.HealthCheck)) : limiter.IsBackgroundStarved))
            return null;
        return _open.Count > 1 || _lastBackground is not { } last || time.GetElapsedTime(last) >= LoneTurn ? _open[0] : null;
    }

    private bool MayGrow(OperationLane lane) => _sharing[(int)lane] + _alone[(int)lane] > 0 && limiter.MayGrow(lane);

    private bool HasNoBackground() => _open.TrueForAll(load => load.Commands == 0 || load.Lane == OperationLane.Playback);

    /// <summary>Whether a fetch would have to wait behind others.</summary>
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

    /// <returns>False when it does not wait any more.</returns>
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

    /// <summary>Where a fetch waits, as urgent as it is by now.</summary>
    private static LeaseClass ClassOf(in ArticleRequest request) => request.Lane switch
    {
        _ when request.IsAlone => request.Lane == OperationLane.Playback ? LeaseClass.Alone : LeaseClass.AloneUnwatched,
        OperationLane.Playback => request.Urgency?.IsHeadOfLine == true || request.IsLate ? LeaseClass.HeadOfLine : LeaseClass.Ahead,
        _ => LeaseClass.Background,
    };

    /// <summary>Among which parties the class is shared where a fetch waits.</summary>
    private static object PartyOf(ConnectionLease waiter) => waiter.Class switch
    {
        LeaseClass.Ahead => waiter.Request.Urgency?.Reader ?? Lanes[(int)waiter.Request.Lane],
        LeaseClass.Background => (waiter.Request.GoesUnpaced ? Unpaced : Lanes)[(int)waiter.Request.Lane],
        _ => Everyone,
    };

    /// <summary>Articles that the reader of a fetch will probably ask for next.</summary>
    private static int FollowingOf(in ArticleRequest request) => request.Urgency?.Following ?? 0;

    /// <summary>
    /// All that waits has been looked at: says what waits for the limit of bandwidth, and notes since when the waits stand still because of it.
    /// </summary>
    private void TellPace()
    {
        if (pace.IsLimited || pace.Held is not null)
            pace.Tell(_held, _isNext, Bytes);
        if (IsPaced == _stoodSince.HasValue)
            return;
        var now = time.GetTimestamp();
        (_stood, _stoodSince) = (PacedFor(now), IsPaced ? (long?)now : null);
    }

    private void TellLimiter()
    {
        var some = _background > 0;
        if (some == _toldOfBackground)
            return;
        _toldOfBackground = some;
        _freesPermit |= limiter.BackgroundWaits(this, some);
    }
}
