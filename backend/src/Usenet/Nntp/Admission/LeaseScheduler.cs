namespace Sluice.Usenet.Nntp.Admission;

/// <summary>
/// Decides which fetch gets which connection of one pool. Waiting readers come first, oldest first; then prefetches, shared fairly among readers; then imports
/// and health checks, shared fairly among lanes. Has no sockets, timers or threads of its own.
/// </summary>
/// <remarks>
/// Used under the lock of the pool; below it only the locks of the two limiters are taken. The pool calls <see cref="Serve"/> whenever a command, a connection,
/// a permit or a waiter has come or gone.
/// </remarks>
internal sealed class LeaseScheduler
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

    private readonly List<ConnectionLoad> _open;
    private readonly GlobalOperationLimiter _limiter;
    private readonly TimeProvider _time;
    private readonly CommandGates _gates;

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
    private int _leaving;

    public LeaseScheduler(GlobalOperationLimiter limiter, QuotaGate quota, PacedPool pace, TimeProvider time)
    {
        (_limiter, _time, _open) = (limiter, time, []);
        _gates = new CommandGates(limiter, quota, pace, time, _open);
    }

    public IReadOnlyList<ConnectionLoad> Open => _open;

    public int Serving => _open.Count - _leaving;

    public IEnumerable<ConnectionLoad> Idle => _open.Where(load => load.Commands == 0 && !load.IsLeaving);

    public int Waiting { get; private set; }

    public bool ReadersWait => Waiting > _background;

    /// <summary>Time until playback ends and the background may exceed its share; null if no background fetch waits.</summary>
    public TimeSpan? BackgroundMayGrowIn => _background > 0 ? _limiter.PlaybackEndsIn : null;

    public int Busy => _open.Count(static load => load.Commands > 0);

    public bool IsLineFull => _gates.IsLineFull;

    public bool IsPaced => _gates.IsPaced;

    public long WaitTime => _gates.WaitTime;

    public long Bytes => _gates.Bytes;

    public bool IsBusy => Waiting > 0 || _open.Exists(load => load.Commands > 0);

    /// <summary>
    /// Returns how many more connections the waiting, outstanding and expected commands would keep busy. Each lane counts separately, because two lanes never
    /// share a connection; its own and the idle connections are subtracted. A connection with a late reply does not count. Nor does a connection that drains
    /// abandoned replies, because a viewer who seeks again would always land behind the last seek. Limited by the permits, because more connections would stay
    /// unused. Under a bandwidth limit only commands that the open connections cannot serve count.
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
            var useful = Math.Min(((waiting + perConnection - 1) / perConnection) + _alone[(int)lane], _limiter.Most(lane));
            lacking += Math.Max(0, useful - own[(int)lane]);
            sound += own[(int)lane];
        }

        lacking = Math.Min(lacking, _limiter.Capacity - sound);

        // A fetch that must avoid certain connections needs another one, because the idle connections may be among them.
        return _avoiding > 0 ? Math.Max(lacking + 1, 1) : lacking;
    }

    public long PacedFor(long now) => _gates.PacedFor(now);

    /// <summary>Whether so many other connections drain abandoned replies that the line is full.</summary>
    public bool IsDrainingBeside(ConnectionLoad own) =>
        _open.Count(load => load != own && load.Commands > 0 && load.Unwanted >= load.Commands) >= MostDraining - 1;

    public void Add(ConnectionLoad load) => _open.Add(load);

    public void Remove(ConnectionLoad load)
    {
        load.IsOpen = false;
        _open.Remove(load);
        if (load.IsLeaving)
            _leaving--;
    }

    /// <summary>Marks connections that take no more commands: first all with an old login, then the excess above the cap, idle first.</summary>
    public void MarkLeaving(int login, int most)
    {
        foreach (var load in _open)
            load.IsLeaving = load.Login != login;
        var staying = _open.Where(load => !load.IsLeaving).ToArray();
        foreach (var load in staying.OrderBy(load => load.Commands).Take(Math.Max(0, staying.Length - most)))
            load.IsLeaving = true;
        _leaving = _open.Count(load => load.IsLeaving);
    }

    /// <summary>Serves a fetch at once; null if it has to wait, for example behind others.</summary>
    public ConnectionLoad? TryLease(in ArticleRequest request, LeaseTerms terms) =>
        !HasBefore(request) && TryPlace(request, terms, out var load) == Gate.None ? load : null;

    public void Enqueue(LeaseWaiter waiter)
    {
        Count(waiter.Request, 1);
        Place(waiter, ClassOf(waiter.Request));
        ReportBackground();
    }

    /// <returns>False if the wait has already ended.</returns>
    public bool Withdraw(LeaseWaiter waiter)
    {
        var waited = TryRemove(waiter);
        ReportBackground();
        return waited;
    }

    /// <summary>Moves a prefetch whose reader now waits ahead of all prefetches. Does nothing if it no longer waits here.</summary>
    public void Raise(LeaseWaiter waiter)
    {
        if (waiter.Class != LeaseClass.Ahead)
            return;
        QueueOf(LeaseClass.Ahead).Remove(waiter, PartyOf(waiter));
        Place(waiter, LeaseClass.HeadOfLine);
    }

    /// <summary>Serves each class in order, until one of its fetches cannot be served.</summary>
    public void Serve(LeaseTerms terms, Action<LeaseWaiter, ConnectionLoad> grant)
    {
        // 1. Forget the lane that the bandwidth limit delayed.
        // 2. Ask the gates for all classes, again whenever the background got a connection, because the connection spared for it is then free for
        //    readers. A class ends with its first fetch that has to wait.
        // 3. Tell the operation limiter whether the background still waits.
        // 4. Tell the bandwidth limiter which lane it delays.

        // Step 1.
        _gates.BeginRound();
        if (Waiting > 0)
        {
            // Step 2.
            while (ServeInOrder(terms, grant) && ReadersWait)
            {
            }

            // Step 3.
            ReportBackground();
        }

        // Step 4.
        _gates.EndRound();
    }

    /// <summary>Removes an ended or unsent command from the counts.</summary>
    /// <returns>The permit if the connection is idle now, to be disposed outside the lock; otherwise null.</returns>
    public static OperationPermit? End(ConnectionLoad load, in ArticleRequest request)
    {
        if (!load.IsOpen)
            return null;
        load.Commands--;
        load.Following -= FollowingOf(request);
        load.Bytes -= request.ExpectedBytes;
        load.LikelyBytes -= request.LikelyBytes;
        load.Stats -= request.Stats;
        if (load.Commands > 0)
            return null;
        load.Reader = null;
        load.IsAlone = false;
        return load.TakePermit();
    }

    /// <summary>Settles the charge of an ended command. <paramref name="inTime"/>, the lease of a body that arrived in time, also measures the line.</summary>
    public void Measure(in ArticleRequest request, long received, LeaseWaiter? inTime)
    {
        _gates.Settle(request, received);
        if (inTime is not null)
            Measure(inTime.Request.ExpectedBytes, _time.GetElapsedTime(inTime.GrantedAt), inTime.OutstandingAtGrant);
    }

    public void Measure(long bytes, TimeSpan took, long outstanding) => _gates.Measure(bytes, took, outstanding);

    /// <summary>Whether a permit became free for others since the last call, because the background no longer waits.</summary>
    public bool TakeFreesPermit()
    {
        var frees = _freesPermit;
        _freesPermit = false;
        return frees;
    }

    public LeaseWaiter[] AllWaiting() => [.. _queues.SelectMany(static queue => queue.All())];

    /// <returns>Whether the background was served.</returns>
    private bool ServeInOrder(LeaseTerms terms, Action<LeaseWaiter, ConnectionLoad> grant)
    {
        var served = false;
        foreach (var queue in _queues)
        {
            if (queue == QueueOf(LeaseClass.Background) && _gates.IsBandwidthLimited)
                return served | ServePacedBackground(queue, terms, grant);
            while (queue.TryPeek(out var waiter) && TryPlace(waiter, terms) is { } load)
            {
                served |= waiter.Request.Lane != OperationLane.Playback;
                queue.Charge(waiter, PartyOf(waiter));
                TryRemove(waiter);
                grant(waiter, load);
            }
        }

        return served;
    }

    private bool ServePacedBackground(FairQueue queue, LeaseTerms terms, Action<LeaseWaiter, ConnectionLoad> grant)
    {
        var served = false;
        foreach (var party in PacedOrder)
        {
            while (queue.TryPeek(party, out var waiter) && TryPlace(waiter, terms) is { } load)
            {
                served = true;
                TryRemove(waiter);
                grant(waiter, load);
            }
        }

        return served;
    }

    private ConnectionLoad? TryPlace(LeaseWaiter waiter, LeaseTerms terms)
    {
        waiter.WaitsAt = TryPlace(waiter.Request, terms, out var load);
        return load;
    }

    /// <summary>Finds the connection that would finish the command first, and passes the gates there.</summary>
    /// <returns>The gate at which the command has to wait, having taken nothing.</returns>
    private Gate TryPlace(in ArticleRequest request, LeaseTerms terms, out ConnectionLoad? load)
    {
        load = null;
        if (_gates.Ask(request, ClassOf(request)) is not Gate.None and var closed)
            return closed;

        // While another connection can be opened, the fetch waits for the new one, because the silent one may be dead.
        var (idle, busy, silent) = Choose(request, terms, request.Lane == OperationLane.Playback ? SparedForBackground() : null);
        var gate = Gate.Depth;
        foreach (var candidate in (ReadOnlySpan<ConnectionLoad?>)[idle, busy, terms.MoreMayServe ? null : silent])
        {
            if (candidate is null || (gate = _gates.TryPass(candidate, request, terms)) != Gate.None)
                continue;
            if (request.Lane != OperationLane.Playback)
                _lastBackground = _time.GetTimestamp();
            load = candidate;
            return Gate.None;
        }

        // Imports that hold every connection must be notified of the reader, otherwise they would never leave one idle.
        if (request.Lane == OperationLane.Playback)
            _limiter.OnPlaybackWaiting();
        return gate;
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

    /// <summary>Whether the article must be fetched over another connection. If no other exists or can be dialed, this one is used.</summary>
    private bool IsAvoided(ConnectionLoad load, in ArticleRequest request, LeaseTerms terms) =>
        request.Avoided is { } avoided && avoided.Contains(load.Connection.Identity) && (terms.MoreMayServe || HasOther(avoided));

    // Separate from the check above, because its lambda would otherwise allocate for every article.
    private bool HasOther(IReadOnlyCollection<object> avoided) => _open.Exists(other => !other.IsLeaving && !avoided.Contains(other.Connection.Identity));

    /// <summary>The connection that playback spares until it is idle, because the background waits and has none.</summary>
    /// <remarks>Always the first one, so that one connection drains completely instead of all partly.</remarks>
    private ConnectionLoad? SparedForBackground()
    {
        if (_open.Count == 0 || !(_background > 0 ? _gates.HasNoBackground() && (MayGrow(OperationLane.Import) || MayGrow(OperationLane.HealthCheck)) : _limiter.IsBackgroundStarved))
            return null;
        return _open.Count > 1 || _lastBackground is not { } last || _time.GetElapsedTime(last) >= LoneTurn ? _open[0] : null;
    }

    private bool MayGrow(OperationLane lane) => _sharing[(int)lane] + _alone[(int)lane] > 0 && _limiter.MayGrow(lane);

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

    private void Place(LeaseWaiter waiter, LeaseClass at)
    {
        waiter.Class = at;
        QueueOf(at).Add(waiter, PartyOf(waiter));
    }

    /// <returns>False if it no longer waits.</returns>
    private bool TryRemove(LeaseWaiter waiter)
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
    private static object PartyOf(LeaseWaiter waiter) => waiter.Class switch
    {
        LeaseClass.Ahead => waiter.Request.Urgency?.Reader ?? Lanes[(int)waiter.Request.Lane],
        LeaseClass.Background => (waiter.Request.GoesUnpaced ? Unpaced : Lanes)[(int)waiter.Request.Lane],
        _ => Everyone,
    };

    private static int FollowingOf(in ArticleRequest request) => request.Urgency?.Following ?? 0;

    private void ReportBackground()
    {
        var some = _background > 0;
        if (some == _reportedBackground)
            return;
        _reportedBackground = some;
        _freesPermit |= _limiter.ReportBackground(this, some);
    }
}
