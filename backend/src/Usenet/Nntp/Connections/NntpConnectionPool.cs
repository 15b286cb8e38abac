using System.Net.Sockets;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// The connections of one account: warm ones are reused, new ones dialled as demand asks, never more sockets than the cap, those that
/// are being opened or are still closing included, because the server counts them all. Fetches wait here, in the order of their lanes,
/// until a connection takes them.
/// </summary>
/// <remarks>
/// Thread-safe. One lock guards who waits, what is open and what counts; below it the locks of the limiters, the breakers, the trial of
/// pipelining, the memory of providers, the timer and the background tasks are taken, none of which takes another. An answer to a fetch
/// that waits is decided under the lock and told outside of it, because what the fetch does next takes locks of its own. Every event that
/// could let a fetch go on (a reply, a dial, a socket that is left or closed, a permit) ends in <see cref="Pump"/>, so no wake-up is lost.
/// </remarks>
internal sealed class NntpConnectionPool : IDialPlaces, IAsyncDisposable
{
    // Handshakes that are not through by then are not waited for by others.
    private static readonly TimeSpan FirstRow = TimeSpan.FromSeconds(1);

    // A dial begins a moment after the article that it is for began to wait; both are late together.
    private static readonly TimeSpan DialLag = TimeSpan.FromMilliseconds(10);

    private readonly Lock _gate = new();
    private readonly CancellationTokenSource _disposing = new();
    private readonly TaskSet _background = new();
    private readonly DeadlineTimer _look;
    private readonly PoolDialer _dialer;
    private readonly Action<ConnectionLease, ConnectionLoad> _grant;
    private volatile ProviderOptions _options;
    private volatile ProviderTraffic _traffic;

    // All below is guarded by _gate: what waits and what is open, how many sockets the account takes, and how often its login has changed.
    private readonly PacedPool _pace;
    private readonly LeaseScheduler _scheduler;
    private readonly ConnectionCap _cap;
    private readonly LeftSockets _left;
    private int _login;

    // Leases whose wait has ended under the lock and whose owners have not been told, oldest first.
    private ConnectionLease? _firstSettled;
    private ConnectionLease? _lastSettled;

    // Sockets that count beside the open connections: being dialled, dialled beside another address, closing. And how many open ones leave.
    private readonly PoolDials _dials = new();
    private int _beside;
    private int _closing;
    private int _leaving;
    private bool _isClosed;

    public NntpConnectionPool(ProviderOptions options, SharedResources shared)
    {
        (_options, _traffic, Shared) = (options, shared.Traffics.Of(options.Id), shared);
        (Line, Health) = (new LineEstimate(shared.Time), new ProviderHealth(options.Id, shared.Options, shared.Memory, shared.Time, shared.Recovery));
        Depth = new PipelineDepth(options, shared);
        _pace = shared.Bandwidth.Join();
        _scheduler = new LeaseScheduler(shared.Limiter, _pace, shared.Time);
        _cap = new ConnectionCap(options, shared);
        _left = new LeftSockets(_cap, shared);
        _dialer = new PoolDialer(shared, Line, this);
        _grant = Grant;
        _look = new DeadlineTimer(shared.Time, Look);
    }

    public SharedResources Shared { get; }
    public LineEstimate Line { get; }
    public ProviderHealth Health { get; }
    public PipelineDepth Depth { get; }

    /// <summary>Under which the memory keeps what is learned about the account: the id of the first of its entries.</summary>
    public Guid Id => _options.Id;

    /// <summary>Counts for the same entry what the account is used for.</summary>
    public ProviderTraffic Traffic => _traffic;

    /// <summary>Whether the settings say that the account is not used.</summary>
    public bool IsDisabled => _options.Kind == ProviderKind.Disabled;

    /// <summary>Whether no connection is open and none may be opened now.</summary>
    public bool IsUnreachable => Reach.IsUnreachable;

    /// <summary>
    /// Whether none is open, and the oldest dial has taken longer than an article waits before it is asked for elsewhere: what one fetch has
    /// waited for in vain the next need not wait for.
    /// </summary>
    public bool IsMute => Reach.IsMute;

    /// <summary>Whether one of these holds.</summary>
    public bool IsOutOfReach => Reach != (false, false);

    /// <summary>Sockets now: open, being opened, still closing.</summary>
    public int Sockets => Counts is var counts ? counts.Open + counts.Changing : 0;

    /// <summary>Sockets being opened or closed, those of the open ones that owe nothing, and as many as were found to be taken; null while that is all that is promised.</summary>
    public (int Changing, int Idle, int Open, int? Cap) Counts
    {
        get
        {
            lock (_gate)
                return (_dials.Count + _beside + _closing, _scheduler.Open.Count(load => load.Commands == 0), _scheduler.Open.Count, _cap.Learned);
        }
    }

    /// <summary>Seconds until a new fetch would be through, by what is outstanding; for choosing among equal providers.</summary>
    public double Backlog
    {
        get
        {
            lock (_gate)
                return Line.TimeFor(_scheduler.Bytes) / Math.Max(1, _options.MaxConnections);
        }
    }

    /// <summary>What the connections do right now, for those who look on.</summary>
    public ConnectionSnapshot Snapshot
    {
        get
        {
            lock (_gate)
                return new ConnectionSnapshot(Serving, _scheduler.Busy, IsFull, Health.IsReachable(Serving > 0), _scheduler.IsLineFull);
        }
    }

    /// <summary>The connections that owe nothing and could take the next command.</summary>
    public NntpConnection[] Idle
    {
        get
        {
            lock (_gate)
                return [.. _scheduler.Idle];
        }
    }

    /// <summary>Whether no more connections are open than are kept though nothing plays.</summary>
    public bool HasOnlyTheFloor
    {
        get
        {
            lock (_gate)
                return IsAtTheFloor;
        }
    }

    // Connections that take commands.
    private int Serving => _scheduler.Open.Count - _leaving;

    private int Count => _scheduler.Open.Count + _dials.Count + _beside + _closing;

    private bool IsFull => Count >= _cap.Current;

    private bool IsAtTheFloor => Shared.Options.KeepsWarm && Serving <= Shared.Options.WarmFloor;

    private (bool IsUnreachable, bool IsMute) Reach
    {
        get
        {
            lock (_gate)
                return (Serving == 0 && Health.Resting is not null, IsMuteNow);
        }
    }

    private bool IsMuteNow => Serving == 0 && Shared.Options.HedgeEnabled && _dials.Oldest is { } oldest && Shared.Time.GetElapsedTime(oldest) >= Shared.Options.HedgeWait - DialLag;

    // Whether none serves, and none is about to.
    private bool NoneWillServe => Serving == 0 && _dials.Count == 0;

    // Whether one more will serve soon, or could.
    private bool MoreMayServe => _dials.Count > 0 || (!IsFull && !_left.HoldsUpDials && CanDial);

    private bool CanDial => Health.Resting is null && !_isClosed;

    private LeaseTerms Terms => Depth.Terms(Line, MoreMayServe);

    /// <summary>
    /// Takes on other settings of the same account. Connections beyond a lower cap, and all that were opened with another login, take
    /// nothing more: idle ones close now, busy ones when their replies have ended.
    /// </summary>
    public void Change(ProviderOptions options)
    {
        bool isOtherLogin;
        lock (_gate)
        {
            isOtherLogin = !_options.HasLoginOf(options);
            (_options, _traffic) = (options, Shared.Traffics.Of(options.Id));
            Depth.Change(options);
            _cap.Change(options);
            if (isOtherLogin)
                _login++;
        }

        Health.Configure(Shared.Options);
        if (isOtherLogin)
            Health.Forget();
        Trim();
        Pump();
    }

    /// <summary>The memory has been restored: takes up the cap and the breakers of an earlier run.</summary>
    public void Recall()
    {
        lock (_gate)
            _cap.Recall();
        Health.Recall();
        Pump();
    }

    /// <summary>Everything goes through again, however the provider has failed before.</summary>
    public void Unblock()
    {
        Health.Forget();
        Pump();
    }

    /// <summary>All connections that the account promises may be tried again, however few were found to be taken.</summary>
    public void ForgetCap()
    {
        lock (_gate)
            _cap.Forget();
        Pump();
    }

    /// <summary>Nothing more is asked of a connection of this pool, which closes when it owes nothing.</summary>
    /// <param name="identity">Its <see cref="NntpConnection.Identity"/>.</param>
    public void Distrust(object identity)
    {
        lock (_gate)
        {
            if (_scheduler.Open.FirstOrDefault(load => load.Connection.Identity == identity) is not { } found)
                return;
            found.Login = ConnectionLoad.None;
        }

        Trim();
        Pump();
    }

    /// <summary>Closes the connections that owe nothing.</summary>
    /// <returns>Their ends.</returns>
    public Task[] CloseIdle() => [.. Idle.Where(connection => connection.Retire(isStale: true)).Select(connection => connection.Completion)];

    /// <summary>Opens a connection if none is open, and leaves it in the pool.</summary>
    public Task ProbeAsync(CancellationToken cancellationToken) => ProbeAsync(_options, cancellationToken);

    /// <summary>
    /// Opens a connection with the login of one entry if none is open, and leaves it in the pool. Where the account goes by the login of
    /// another entry, the connection only shows whether this one is accepted.
    /// </summary>
    /// <exception cref="NntpException">It cannot be reached or logged in to.</exception>
    /// <exception cref="ObjectDisposedException">The pool was closed, before or meanwhile.</exception>
    public async Task ProbeAsync(ProviderOptions entry, CancellationToken cancellationToken)
    {
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _disposing.Token);
        Task<NntpException?> dial;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_isClosed, this);
            var isOwn = entry.HasLoginOf(_options);
            if (IsFull || (isOwn && Serving > 0 && Health.Dials.State == BreakerState.Closed))
                return;
            var begunAt = BeginDial();
            dial = isOwn ? DialAsync(begunAt, _login, Health.Dials.TryProbe(atOnce: true), either.Token) : TryLoginAsync(entry, begunAt, either.Token);
            _background.Add(dial);
        }

        var failure = await dial;
        ObjectDisposedException.ThrowIf(_disposing.IsCancellationRequested, this);
        if (failure is not null)
            throw failure;
    }

    /// <summary>Places the fetches that can be placed, and dials for the rest.</summary>
    public void Pump() => Serve(inline: true);

    /// <summary>Sends away what waits for a body, because those of this provider fail: to another one, or back here where there is none.</summary>
    public void SendAway()
    {
        lock (_gate)
            RefuseAll(new NntpException(NntpFault.GivenUp, "The provider fails again and again."), withStats: false);
        Pump();
    }

    /// <summary>Waits for a connection that takes one more command.</summary>
    /// <param name="lease">Held when the task has completed well; asked for once.</param>
    /// <param name="cancellationToken">Gives the wait up.</param>
    /// <exception cref="NntpException">The provider cannot be reached, or nothing became free in time.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled, or the lease given up.</exception>
    public ValueTask LeaseAsync(ConnectionLease lease, CancellationToken cancellationToken)
    {
        // Before the lock is taken, so that a reader who comes meanwhile either finds the pool here or is seen by the scheduler.
        lease.Begin(this);
        bool isHeld;
        ConnectionLease? settled;
        lock (_gate)
        {
            if (_disposing.IsCancellationRequested)
                throw Closed();
            if (NoneWillServe && Health.Resting is { } resting)
                throw new NntpException(resting.Fault, resting.Message, resting);
            var load = _scheduler.TryLease(lease.Request, Terms);
            isHeld = load is not null;
            if (load is not null)
                lease.Grant(load.Connection, Shared.Time.GetTimestamp(), _scheduler.Bytes);
            else
                Enqueue(lease);

            // What waits before it may wait for something else than the connection that is free.
            settled = ServeUnderLock();
        }

        // The caller may hold locks.
        Tell(settled, inline: false);
        return isHeld ? ValueTask.CompletedTask : lease.WaitAsync(cancellationToken);
    }

    /// <summary>By a lease: a reader has come to wait for its article, and may hold a lock.</summary>
    public void Raise(ConnectionLease lease)
    {
        lock (_gate)
        {
            _scheduler.Raise(lease);
            if (lease.Class is not null)
                Watch(lease);
        }

        Serve(inline: false);
    }

    /// <summary>By a lease: it is not wanted any more; others may go on in its place. Nothing happens when its wait has ended.</summary>
    public void Withdraw(ConnectionLease lease, CancellationToken cancelled)
    {
        bool waited;
        lock (_gate)
        {
            waited = _scheduler.Withdraw(lease);
            if (waited)
            {
                lease.Refuse(cancelled);
                Settled(lease);
            }
        }

        if (waited)
            Pump();
    }

    /// <summary>A command has ended, or its lease was given back without one.</summary>
    /// <param name="connection">The connection that the lease was for.</param>
    /// <param name="request">The request of the lease.</param>
    /// <param name="reply">The reply that has ended in its order; null where there was none.</param>
    public void EndCommand(NntpConnection connection, in ArticleRequest request, PendingReply? reply = null)
    {
        OperationPermit? permit;
        bool leaves;
        lock (_gate)
        {
            connection.Load.Depth = Depth.Bodies(connection.Line);
            permit = LeaseScheduler.End(connection.Load, request);
            leaves = connection.Load is { IsLeaving: true, Commands: 0 };
            _scheduler.Measure(request, reply);
        }

        permit?.Dispose();
        if (leaves)
            connection.Retire(isStale: true);
        Pump();
    }

    /// <summary>By a connection that has been idle for long.</summary>
    /// <param name="connection">The connection.</param>
    /// <param name="isStale">Whether it is of no use any more, so that it does not count among those that are kept open.</param>
    /// <returns>True when no lease is out and none will be given: the connection may say goodbye.</returns>
    public bool TryRetire(NntpConnection connection, bool isStale)
    {
        lock (_gate)
        {
            if (connection.Load is not { Commands: 0, IsOpen: true } || (!isStale && IsAtTheFloor))
                return false;
            BeginClose(connection.Load);
        }

        Pump();
        return true;
    }

    /// <summary>Whether the fetch that comes next need not wait for this connection: another is idle, or can be opened while this one reads on.</summary>
    public bool HasAnother(NntpConnection connection)
    {
        lock (_gate)
            return _scheduler.Idle.Any() || (MoreMayServe && !_scheduler.IsDrainingBeside(connection.Load));
    }

    /// <summary>By a connection: no lease may be given any more; the socket may still count.</summary>
    public void Closing(NntpConnection connection, NntpException reason)
    {
        // A connection that was idle, or waited for a sign of life alone, says nothing about the provider.
        var isTelling = connection.IsAwaited && ProviderHealth.IsTelling(reason);
        OperationPermit? permit;
        bool owedStats;
        lock (_gate)
        {
            owedStats = connection.Load.Stats > 0;
            if (connection.Load.IsOpen)
                BeginClose(connection.Load);
            if (reason.Fault == NntpFault.TooManyConnections)
                _left.Refused(Count - 1, Serving);
            permit = connection.Load.TakePermit();
        }

        // Outside of the lock: a breaker that opens sends the fetches away that wait here.
        if (isTelling)
            (owedStats ? Health.Stats : Health.Bodies).Failed(reason);
        permit?.Dispose();
        Pump();
    }

    /// <summary>
    /// A socket has closed its sending side, and nothing reads from it any more. Ends when the server does not count it any more, as far as
    /// can be known.
    /// </summary>
    public async Task LeaveAsync(Socket socket)
    {
        var left = new LeftSocket(socket, Shared);
        lock (_gate)
            _left.Add(left);

        // From here on it is known when to try whether the server has room although the socket holds its place.
        Pump();
        await left.WaitAsync(() => _left.ResetsHelp, _disposing.Token);
        lock (_gate)
            left.FreedAt = Shared.Time.GetTimestamp();
    }

    /// <summary>By a connection: its socket is closed on both sides.</summary>
    public void SocketGone()
    {
        Shared.Meter.SocketClosed();
        lock (_gate)
            _closing--;
        Pump();
    }

    bool IDialPlaces.TryTake()
    {
        lock (_gate)
        {
            if (IsFull || _isClosed)
                return false;
            _beside++;
            return true;
        }
    }

    void IDialPlaces.Return()
    {
        lock (_gate)
            _beside--;
        Pump();
    }

    void IDialPlaces.Leave(Socket socket)
    {
        lock (_gate)
            _closing++;
        _background.Add(LeaveAndCloseAsync(socket));
    }

    public async ValueTask DisposeAsync()
    {
        await _disposing.CancelAsync();
        NntpConnection[] open;
        lock (_gate)
        {
            RefuseAll(Closed());
            _isClosed = true;
            open = [.. _scheduler.Open.Select(load => load.Connection)];
        }

        Pump();
        await Task.WhenAll(open.Select(connection => connection.DisposeAsync().AsTask()));
        await _background.WhenAllAsync();
        await _look.DisposeAsync();
        _pace.Leave();
        _disposing.Dispose();
    }

    /// <inheritdoc/>
    public override string ToString()
    {
        lock (_gate)
        {
            return $"{_options.Name}: {_scheduler.Waiting} waiting, {_dials.Count} dialling, {_beside} beside, {_closing} closing, open {{{string.Join("; ", _scheduler.Open)}}}";
        }
    }

    private async Task LeaveAndCloseAsync(Socket socket)
    {
        await LeaveAsync(socket);
        SocketGone();
    }

    /// <summary>Grants leases to the fetches that can be served, dials for the rest, and tells those that were answered.</summary>
    /// <param name="inline">Whether they may go on in this call, because the caller holds no lock.</param>
    private void Serve(bool inline)
    {
        ConnectionLease? settled;
        bool freesPermit;
        lock (_gate)
        {
            settled = ServeUnderLock();
            freesPermit = inline && _scheduler.TakeFreesPermit();
        }

        Tell(settled, inline);
        if (freesPermit)
            Shared.Limiter.Wake();
    }

    /// <returns>The first of the leases that have been answered; null for none.</returns>
    private ConnectionLease? ServeUnderLock()
    {
        var wasPaced = _scheduler.IsPaced;
        _scheduler.Serve(Terms, _grant);

        // The deadlines of the waits go on.
        if (wasPaced && !_scheduler.IsPaced && _scheduler.Waiting > 0)
            _look.Arm(TimeSpan.Zero);
        DialAsDemanded();
        var first = _firstSettled;
        _firstSettled = _lastSettled = null;
        return first;
    }

    private static void Tell(ConnectionLease? first, bool inline)
    {
        while (first is not null)
        {
            var next = first.Next;
            first.Next = null;
            first.Settle(inline);
            first = next;
        }
    }

    private void Enqueue(ConnectionLease lease)
    {
        // Fetches ahead wait for their turn behind a slow line; nothing misses them before they are raised.
        var patience = lease.Request.Urgency?.IsHeadOfLine == false ? Shared.Options.AheadTimeout : Shared.Options.LeaseTimeout;
        var now = Shared.Time.GetTimestamp();
        lease.Wait(now, _scheduler.PacedFor(now), After(_scheduler.WaitTime, patience));
        _scheduler.Enqueue(lease);
        _look.Arm(patience);
        Watch(lease);
    }

    /// <summary>A reader waits for the article of a lease: its fetch is told when the wait is long.</summary>
    private void Watch(ConnectionLease lease)
    {
        if (!Shared.Options.HedgeEnabled || lease.Fetch is null || lease.Request.Urgency?.IsHeadOfLine != true)
            return;
        lease.LateAt = After(_scheduler.WaitTime, Shared.Options.HedgeWait);
        _look.Arm(Shared.Options.HedgeWait);
    }

    /// <summary>By the timer: ends the waits that have lasted too long, and tells the fetches of readers that have waited for long.</summary>
    private void Look()
    {
        var late = new List<IPendingFetch>();
        lock (_gate)
        {
            // Once for each dial: what has nowhere else to go comes back and waits.
            if (IsMuteNow && _dials.TryNoteOldest())
                RefuseAll(new NntpException(NntpFault.GivenUp, "The server does not answer a dial for long."));
            if (Shared.Options.HedgeEnabled && _dials.FirstAfter(After(Shared.Time.GetTimestamp(), -Shared.Options.HedgeWait)) is { } dial)
                _look.Arm(Shared.Options.HedgeWait - Shared.Time.GetElapsedTime(dial));
            var now = _scheduler.WaitTime;
            foreach (var lease in _scheduler.AllWaiting())
            {
                if (lease.Deadline <= now)
                {
                    Refuse(lease, new NntpException(NntpFault.NoConnection, "No connection became free in time."));
                    continue;
                }

                if (lease.LateAt <= now)
                {
                    late.Add(lease.Fetch!);
                    lease.LateAt = After(now, Shared.Options.HedgeWait);
                }

                // While the waits stand still none of them ends; when they go on, they are looked at.
                if (!_scheduler.IsPaced)
                    _look.Arm(RestUntil(Math.Min(lease.Deadline, lease.LateAt)));
            }
        }

        Pump();
        foreach (var fetch in late)
            fetch.BeLate(isSent: false);
    }

    private void Grant(ConnectionLease lease, ConnectionLoad load)
    {
        var now = Shared.Time.GetTimestamp();
        lease.Grant(load.Connection, now, _scheduler.Bytes, _scheduler.PacedFor(now));
        Settled(lease);
    }

    /// <summary>Ends the waits for a body, and those for answers about articles where these are to go, too.</summary>
    private void RefuseAll(NntpException failure, bool withStats = true)
    {
        foreach (var lease in _scheduler.AllWaiting())
        {
            if (withStats || lease.Request.Stats == 0)
                Refuse(lease, failure);
        }
    }

    private void Refuse(ConnectionLease lease, NntpException failure)
    {
        _scheduler.Withdraw(lease);
        lease.Refuse(failure);
        Settled(lease);
    }

    private void Settled(ConnectionLease lease)
    {
        if (_lastSettled is null)
            _firstSettled = lease;
        else
            _lastSettled.Next = lease;
        _lastSettled = lease;
    }

    private void DialAsDemanded()
    {
        TimeSpan? again;
        while (MayDial(Depth.PlaybackBodies(Line), out again))
        {
            _background.Add(DialAsync(BeginDial(), _login, Health.Dials.TryProbe(), _disposing.Token));
        }

        // That nothing has played for a while is no event of its own.
        if (_scheduler.BackgroundMayGrowIn is { } rest && !(again < rest))
            again = rest;
        if (again is { } due)
            _look.Arm(due);
    }

    /// <summary>Whether to open one more.</summary>
    /// <param name="depth">Bodies that a connection takes.</param>
    /// <param name="again">When to ask again though nothing has happened until then; null: not before something does.</param>
    private bool MayDial(int depth, out TimeSpan? again)
    {
        var options = Shared.Options;

        // The first few are opened at once. Further ones beside those that serve spread the window of a reader over more connections: on a
        // thin line that is not faster, and a seek has to leave more of them.
        var mostHandshakes = _scheduler.ReadersWait
            ? Math.Max(options.HandshakesPerProvider, options.MostHandshakesPerProvider - Serving)
            : options.HandshakesPerProvider;

        // A provider that nothing uses is left alone: one that closes what is opened would be dialled for ever.
        var lackingOfTheFloor = options.KeepsWarm && _scheduler.IsBusy ? options.WarmFloor - Serving : 0;
        again = null;
        if (Math.Max(_scheduler.Lacking(depth), lackingOfTheFloor) <= _dials.Count || _dials.Count >= mostHandshakes || !CanDial)
            return false;
        if (_left.HoldsUpDials && _left.Rest is var rest && rest > TimeSpan.Zero)
        {
            again = rest;
            return false;
        }

        // What becomes of the first row says whether there is room for more.
        if (_cap.Proven < mostHandshakes && Count >= mostHandshakes && _dials.Count > 0 && FirstRow - Shared.Time.GetElapsedTime(_dials.LastBegunAt) is var row && row > TimeSpan.Zero)
        {
            again = row;
            return false;
        }

        // All places may be taken by sockets that are counted only in case the server does.
        _left.EndRest();
        return !IsFull || (_dials.Count == 0 && Count <= _cap.Current && _left.MayTry(out again));
    }

    /// <returns>When it began.</returns>
    private long BeginDial()
    {
        if (Shared.Options.HedgeEnabled)
            _look.Arm(Shared.Options.HedgeWait);
        return _dials.Begin(Shared.Time.GetTimestamp());
    }

    /// <returns>Why the dial failed, or null.</returns>
    private async Task<NntpException?> DialAsync(long begunAt, int login, BreakerProbe? probe, CancellationToken cancellationToken)
    {
        bool mustTrim;
        var options = _options;
        var (transport, failure, wasCancelled) = await _dialer.OpenAsync(options, cancellationToken);
        using var token = probe;
        lock (_gate)
        {
            _dials.End(begunAt);
            if (transport is not null)
                Adopt(transport, login, probe);
            else if (failure!.Fault == NntpFault.TooManyConnections && Count > 0)
                _left.Refused(Count, Serving);
            else
                DialFailed(failure, isTelling: !wasCancelled && login == _login, probe);
            mustTrim = transport is not null && (login != _login || Serving > _cap.Promised);
        }

        if (mustTrim)
            Trim();
        Pump();
        return failure;
    }

    private async Task<NntpException?> TryLoginAsync(ProviderOptions entry, long begunAt, CancellationToken cancellationToken)
    {
        var (transport, failure, _) = await _dialer.OpenAsync(entry, cancellationToken);
        if (transport is not null)
        {
            await transport.DisposeAsync();
            Shared.Meter.SocketClosed();
        }

        lock (_gate)
            _dials.End(begunAt);
        Pump();
        return failure;
    }

    private void Adopt(NntpTransport transport, int login, BreakerProbe? probe)
    {
        var connection = new NntpConnection(transport, login, this);
        _scheduler.Add(connection.Load);
        _cap.Reached(_scheduler.Open.Count);
        _left.Opened(Count);
        connection.Start();
        _background.Add(connection.Completion);
        if (_disposing.IsCancellationRequested)
            connection.Abort(Closed());
        if (Health.DialSucceeded(probe))
            NntpLog.Recovered(Shared.Logger, _options.Name);
    }

    /// <summary>A dial has ended otherwise than by a connection, or by a refusal while others counted.</summary>
    private void DialFailed(NntpException failure, bool isTelling, BreakerProbe? probe)
    {
        _left.DialFailed();
        if (failure.Fault == NntpFault.TooManyConnections)
            _cap.RefusedAll();
        if (!isTelling)
            return;
        Health.DialFailed(failure, probe);
        NntpLog.DialFailed(Shared.Logger, _options.Name, failure.Message);
        if (NoneWillServe)
            RefuseAll(failure);
    }

    /// <summary>A connection serves no more, and still counts.</summary>
    private void BeginClose(ConnectionLoad load)
    {
        if (load.IsLeaving)
            _leaving--;
        _scheduler.Remove(load);
        _closing++;
    }

    /// <summary>Lets those connections go that the settings do not allow any more: those of another login, and as many as are too many, idle ones first.</summary>
    private void Trim()
    {
        NntpConnection[] idle;
        lock (_gate)
        {
            foreach (var load in _scheduler.Open)
                load.IsLeaving = load.Login != _login;
            var staying = _scheduler.Open.Where(load => !load.IsLeaving).ToArray();
            foreach (var load in staying.OrderBy(load => load.Commands).Take(Math.Max(0, staying.Length - _cap.Promised)))
                load.IsLeaving = true;
            _leaving = _scheduler.Open.Count(load => load.IsLeaving);
            idle = [.. _scheduler.Open.Where(load => load is { IsLeaving: true, Commands: 0 }).Select(load => load.Connection)];
        }

        foreach (var connection in idle)
            connection.Retire(isStale: true);
    }

    private TimeSpan RestUntil(long at) => TimeSpan.FromSeconds((double)(at - _scheduler.WaitTime) / Shared.Time.TimestampFrequency);

    private long After(long now, TimeSpan pause) => now + (long)(pause.TotalSeconds * Shared.Time.TimestampFrequency);

    private static NntpException Closed() => new(NntpFault.NoConnection, "The connection pool was closed.");
}
