using System.Net.Sockets;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// The connections of one account. The pool opens, grants and closes connections as the gates in <see cref="Gate"/> decide. Fetches wait here, ordered by lane,
/// for a connection.
/// </summary>
/// <remarks>
/// Thread-safe. One lock guards the connections and all gates of this account. While holding it, the pool may take the locks of the limiters, breakers,
/// pipelining trial, provider memory, timer and background tasks; none of these takes another. A wait ends under the lock, but its owner is notified outside of
/// it, because the fetch then takes its own locks. Every event that can unblock a fetch (a reply, a dial, a socket left or closed, a permit) ends in
/// <see cref="Pump"/>, so no wake-up is lost.
/// </remarks>
internal sealed class NntpConnectionPool : IDialPlaces, IAsyncDisposable
{
    private readonly Lock _gate = new();
    private readonly CancellationTokenSource _disposing = new();
    private readonly TaskSet _background = new();
    private readonly DeadlineTimer _timer;
    private readonly PoolDialer _dialer;
    private volatile ProviderOptions _options;
    private volatile ProviderTraffic _traffic;

    // Everything below is guarded by _gate. _login counts how often the account's login has changed.
    private readonly PacedPool _pace;
    private readonly LeaseScheduler _scheduler;
    private readonly LeaseWaits _waits;
    private readonly DialGates _dials;
    private int _login;

    public NntpConnectionPool(ProviderOptions options, SharedResources shared)
    {
        (_options, _traffic, Shared) = (options, shared.Traffics.Of(options.Id), shared);
        Quota = new QuotaGate(options.Quota, _traffic);
        (Line, Health) = (new LineEstimate(shared.Time), new ProviderHealth(options.Id, shared.Options, shared.Memory, shared.Time, shared.Recovery));
        Depth = new PipelineDepth(options, shared);
        _pace = shared.Bandwidth.Join();
        _scheduler = new LeaseScheduler(shared.Limiter, Quota, _pace, shared.Time);
        _dialer = new PoolDialer(shared, Line, this);
        _timer = new DeadlineTimer(shared.Time, OnTimer);
        _dials = new DialGates(options, shared, _scheduler, Health, _timer);
        _waits = new LeaseWaits(_scheduler, shared, _timer);
    }

    public SharedResources Shared { get; }
    public LineEstimate Line { get; }
    public ProviderHealth Health { get; }
    public PipelineDepth Depth { get; }
    public QuotaGate Quota { get; }

    /// <summary>The account's key in the provider memory: the id of its first settings entry.</summary>
    public Guid Id => _options.Id;

    public ProviderTraffic Traffic => _traffic;

    public bool IsDisabled => _options.Kind == ProviderKind.Disabled;

    /// <summary>Whether no connection is open and the cooldown of the dial breaker forbids a new one.</summary>
    public bool IsUnreachable => Reach.IsUnreachable;

    public bool IsMute => Reach.IsMute;

    public bool IsOutOfReach => Reach != (false, false);

    public int Sockets => Counts is var counts ? counts.Open + counts.Changing : 0;

    /// <summary>Changing counts dials and closing sockets. Cap is null if the server allows all promised connections.</summary>
    public (int Changing, int Idle, int Open, int? Cap) Counts => Read(static pool =>
        (pool._dials.Changing, pool._scheduler.Open.Count(load => load.Commands == 0), pool._scheduler.Open.Count, pool._dials.Cap.Learned));

    /// <summary>Seconds until the outstanding bytes have arrived; used to choose among equal providers.</summary>
    public double Backlog => Read(static pool => pool.Line.TimeFor(pool._scheduler.Bytes) / Math.Max(1, pool._options.MaxConnections));

    public ConnectionSnapshot Snapshot => Read(static pool => new ConnectionSnapshot(
        pool._scheduler.Serving, pool._scheduler.Busy, pool._dials.IsFull, pool.Health.IsReachable(pool._scheduler.Serving > 0), pool._scheduler.IsLineFull));

    public NntpConnection[] Idle => Read(static pool => pool._scheduler.Idle.Select(Of).ToArray());

    /// <summary>Whether only the warm floor's connections are open, which stay open even if nothing plays.</summary>
    public bool HasOnlyTheFloor => Read(static pool => pool._dials.IsAtTheFloor);

    private (bool IsUnreachable, bool IsMute) Reach =>
        Read(static pool => (pool._scheduler.Serving == 0 && pool.Health.Resting is not null, pool._dials.IsMute));

    private LeaseTerms Terms => Depth.Terms(Line, _dials.MoreMayServe);

    /// <summary>
    /// Applies new settings to the account. Connections above a lower cap or with an old login accept no more commands: idle ones
    /// close now, busy ones after their replies.
    /// </summary>
    public void Change(ProviderOptions options)
    {
        bool isOtherLogin;
        lock (_gate)
        {
            isOtherLogin = !_options.HasLoginOf(options);
            (_options, _traffic) = (options, Shared.Traffics.Of(options.Id));
            Quota.Change(options.Quota, _traffic);
            Depth.Change(options);
            _dials.Cap.Change(options);
            if (isOtherLogin)
                _login++;
        }

        Health.Configure(Shared.Options);
        if (isOtherLogin)
            Health.Forget();
        Trim();
        Pump();
    }

    /// <summary>Applies the cap and the breaker states of an earlier run, once the provider memory has been restored.</summary>
    public void Recall()
    {
        lock (_gate)
            _dials.Cap.Recall();
        Health.Recall();
        Pump();
    }

    /// <summary>Resets all breakers, so that fetches and dials go through again.</summary>
    public void Unblock()
    {
        Health.Forget();
        Pump();
    }

    public void ForgetCap()
    {
        lock (_gate)
            _dials.Cap.Forget();
        Pump();
    }

    /// <summary>Stops using the connection with this <see cref="NntpConnection.Identity"/>, which closes once no reply is outstanding.</summary>
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

    /// <summary>Closes the idle connections. Each task completes when its socket is closed.</summary>
    public Task[] CloseIdle() => [.. Idle.Where(connection => connection.Retire(isStale: true)).Select(connection => connection.Completion)];

    public Task ProbeAsync(CancellationToken cancellationToken) => ProbeAsync(_options, cancellationToken);

    /// <summary>Opens a connection with the login of one entry, unless one is already open, and leaves it in the pool.</summary>
    /// <remarks>If the account uses another entry's login, the connection only tests whether the server accepts this entry's login.</remarks>
    /// <exception cref="NntpException">The server cannot be reached or refuses the login.</exception>
    /// <exception cref="ObjectDisposedException">The pool was closed, before the call or during it.</exception>
    public async Task ProbeAsync(ProviderOptions entry, CancellationToken cancellationToken)
    {
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _disposing.Token);
        Task<NntpException?> dial;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_dials.IsShut, this);
            var isOwn = entry.HasLoginOf(_options);
            if (_dials.IsFull || (isOwn && _scheduler.Serving > 0 && Health.Dials.State == BreakerState.Closed))
                return;
            var begunAt = _dials.Begin();
            dial = isOwn ? DialAsync(begunAt, _login, Health.Dials.TryProbe(atOnce: true), either.Token) : TryLoginAsync(entry, begunAt, either.Token);
            _background.Add(dial);
        }

        var failure = await dial;
        ObjectDisposedException.ThrowIf(_disposing.IsCancellationRequested, this);
        if (failure is not null)
            throw failure;
    }

    /// <summary>Grants leases to the waiting fetches, and dials for those that remain.</summary>
    public void Pump() => Serve(inline: true);

    /// <summary>Ends the waits for bodies because the provider keeps failing. A fetch without another provider requests a connection again.</summary>
    public void SendAway()
    {
        lock (_gate)
            _waits.RefuseAll(new NntpException(NntpFault.GivenUp, "The provider keeps failing."), withStats: false);
        Pump();
    }

    /// <summary>Waits for a connection that accepts one more command. Once the task succeeds, the lease is held. Called at most once for each lease.</summary>
    /// <exception cref="NntpException">The provider cannot be reached, or no connection became free in time.</exception>
    /// <exception cref="OperationCanceledException">The token was canceled, or the lease was given up.</exception>
    public ValueTask LeaseAsync(ConnectionLease lease, CancellationToken cancellationToken)
    {
        // Before the lock, so that no concurrent Raise is lost: either it finds the pool here, or the scheduler sees the raised urgency.
        lease.Begin(this);
        bool isHeld;
        LeaseWaiter? ended;
        lock (_gate)
        {
            if (_disposing.IsCancellationRequested)
                throw Closed();
            if (_dials.NoneWillServe && Health.Resting is { } resting)
                throw new NntpException(resting.Fault, resting.Message, resting);
            if (Quota.StateFor(lease.Request) == QuotaState.Spent)
                throw QuotaGate.Reached();
            isHeld = _waits.TryGrant(lease, Terms);

            // Earlier fetches in the queue may wait for something other than the free connection, so this fetch may still be served.
            ended = ServeUnderLock();
        }

        // The caller may hold locks, so nothing continues inline.
        LeaseWaits.Report(ended, Shared.Meter, inline: false);
        return isHeld ? ValueTask.CompletedTask : lease.WaitAsync(cancellationToken);
    }

    /// <summary>Called by a lease when a reader starts to wait for its article. The caller may hold a lock.</summary>
    public void Raise(ConnectionLease lease)
    {
        lock (_gate)
            _waits.Raise(lease);
        Serve(inline: false);
    }

    /// <summary>Called by a lease when its owner cancels the wait, so that other fetches can be served. Does nothing once the wait has ended.</summary>
    public void Withdraw(ConnectionLease lease, CancellationToken cancelled)
    {
        bool waited;
        lock (_gate)
            waited = _waits.Withdraw(lease, cancelled);
        if (waited)
            Pump();
    }

    /// <summary>Frees the slot of a command. <paramref name="reply"/> is null if the lease was returned without a command.</summary>
    public void EndCommand(NntpConnection connection, in ArticleRequest request, PendingReply? reply = null)
    {
        OperationPermit? permit;
        bool leaves;
        lock (_gate)
        {
            connection.Load.Depth = Depth.Bodies(connection.Line);
            permit = LeaseScheduler.End(connection.Load, request);
            leaves = connection.Load is { IsLeaving: true, Commands: 0 };
            _scheduler.Measure(request, reply?.Received ?? 0, reply is ArticleBody { WasInTime: true } body ? body.Lease : null);
        }

        permit?.Dispose();
        if (leaves)
            connection.Retire(isStale: true);
        Pump();
    }

    /// <summary>Retires an idle connection, which may then send QUIT. False if it has a lease, or if the warm floor needs it and it is not stale.</summary>
    public bool TryRetire(NntpConnection connection, bool isStale)
    {
        lock (_gate)
        {
            if (connection.Load is not { Commands: 0, IsOpen: true } || (!isStale && _dials.IsAtTheFloor))
                return false;
            _dials.BeginClose(connection.Load);
        }

        Pump();
        return true;
    }

    /// <summary>Whether the next fetch can do without this connection: another one is idle, or can be opened while this one drains.</summary>
    public bool HasAnother(NntpConnection connection)
    {
        lock (_gate)
            return _scheduler.Idle.Any() || (_dials.MoreMayServe && !_scheduler.IsDrainingBeside(connection.Load));
    }

    /// <summary>Called by a connection that accepts no more leases. The server may still count its socket.</summary>
    public void Closing(NntpConnection connection, NntpException reason)
    {
        // A connection without commands, or with only a keep-alive, says nothing about the provider.
        var isTelling = connection.IsAwaited && ProviderHealth.IsTelling(reason);
        OperationPermit? permit;
        bool owedStats;
        lock (_gate)
        {
            owedStats = connection.Load.Stats > 0;
            if (connection.Load.IsOpen)
                _dials.BeginClose(connection.Load);
            if (reason.Fault == NntpFault.TooManyConnections)
                _dials.Refused(_dials.Count - 1);
            permit = connection.Load.TakePermit();
        }

        // Outside the lock, because a breaker that opens ends the waits in this pool.
        if (isTelling)
            (owedStats ? Health.Stats : Health.Bodies).Failed(reason);
        permit?.Dispose();
        Pump();
    }

    /// <summary>Keeps the slot of a half-closed socket, which nothing reads any more, until the server has presumably stopped counting the socket.</summary>
    /// <param name="payer">The payer of the interrupted reply, whose bytes may still arrive.</param>
    public async Task LeaveAsync(Socket socket, Payer payer)
    {
        var left = new LeftSocket(socket, Shared);
        lock (_gate)
            _dials.Left(left);

        // The pool can now schedule a trial dial, although the socket still holds its slot.
        Pump();
        Traffic.Received(payer, await left.WaitAsync(() => _dials.ResetsHelp, _disposing.Token));
        lock (_gate)
            left.FreedAt = Shared.Time.GetTimestamp();
    }

    public void SocketGone()
    {
        Shared.Meter.SocketClosed();
        lock (_gate)
            _dials.EndClose();
        Pump();
    }

    bool IDialPlaces.TryTake()
    {
        lock (_gate)
            return _dials.TryBeginBeside();
    }

    void IDialPlaces.Return()
    {
        lock (_gate)
            _dials.EndBeside();
        Pump();
    }

    void IDialPlaces.Leave(Socket socket)
    {
        lock (_gate)
            _dials.BeginClose();
        _background.Add(LeaveAndCloseAsync(socket));
    }

    public async ValueTask DisposeAsync()
    {
        await _disposing.CancelAsync();
        NntpConnection[] open;
        lock (_gate)
        {
            _waits.RefuseAll(Closed());
            _dials.Shut();
            open = [.. _scheduler.Open.Select(Of)];
        }

        Pump();
        await Task.WhenAll(open.Select(connection => connection.DisposeAsync().AsTask()));
        await _background.WhenAllAsync();
        await _timer.DisposeAsync();
        _pace.Leave();
        _disposing.Dispose();
    }

    public override string ToString()
    {
        lock (_gate)
            return $"{_options.Name}: {_scheduler.Waiting} waiting, {_dials}, open {{{string.Join("; ", _scheduler.Open)}}}";
    }

    private async Task LeaveAndCloseAsync(Socket socket)
    {
        await LeaveAsync(socket, Payer.Other);
        SocketGone();
    }

    /// <summary>Grants leases, dials for the remaining fetches, and notifies the owners of the leases whose wait has ended.</summary>
    /// <param name="inline">Whether fetches may continue in this call, because the caller holds no lock.</param>
    private void Serve(bool inline)
    {
        LeaseWaiter? ended;
        bool freesPermit;
        lock (_gate)
        {
            ended = ServeUnderLock();
            freesPermit = inline && _scheduler.TakeFreesPermit();
        }

        LeaseWaits.Report(ended, Shared.Meter, inline);
        if (freesPermit)
            Shared.Limiter.Wake();
    }

    private LeaseWaiter? ServeUnderLock()
    {
        _waits.Serve(Terms);
        if (Quota.MayRefuse)
            _waits.RefuseSpent(Quota);
        DialAsDemanded();
        return _waits.TakeEnded();
    }

    /// <summary>Called by the timer: ends waits past their deadline, and notifies fetches whose readers have waited too long.</summary>
    private void OnTimer()
    {
        List<LeaseWaiter> late;
        lock (_gate)
        {
            // Once per dial, because a fetch without another provider requests a connection again.
            if (_dials.TryNoteMute())
                _waits.RefuseAll(new NntpException(NntpFault.GivenUp, "The server has not answered a connection attempt for too long."));
            late = _waits.Check();
        }

        Pump();
        foreach (var lease in late)
            lease.OnLongWait();
    }

    private void DialAsDemanded()
    {
        TimeSpan? again;
        while (_dials.Ask(Depth.PlaybackBodies(Line), out again) == Gate.None)
            _background.Add(DialAsync(_dials.Begin(), _login, Health.Dials.TryProbe(), _disposing.Token));

        // The end of playback raises no event, so the timer checks for it.
        if (_scheduler.BackgroundMayGrowIn is { } rest && !(again < rest))
            again = rest;
        if (again is { } due)
            _timer.Arm(due);
    }

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
            else if (failure!.Fault == NntpFault.TooManyConnections && _dials.Count > 0)
                _dials.Refused(_dials.Count);
            else
                DialFailed(failure, isTelling: !wasCancelled && login == _login, probe);
            mustTrim = transport is not null && (login != _login || _scheduler.Serving > _dials.Cap.Promised);
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
        _dials.Opened();
        connection.Start();
        _background.Add(connection.Completion);
        if (_disposing.IsCancellationRequested)
            connection.Abort(Closed());
        if (Health.DialSucceeded(probe))
            NntpLog.Recovered(Shared.Logger, _options.Name);
    }

    /// <summary>Handles a failed dial, except a refusal while the server counted other sockets.</summary>
    private void DialFailed(NntpException failure, bool isTelling, BreakerProbe? probe)
    {
        _dials.Failed(failure.Fault);
        if (!isTelling)
            return;
        Health.DialFailed(failure, probe);
        NntpLog.DialFailed(Shared.Logger, _options.Name, failure.Message);
        if (_dials.NoneWillServe)
            _waits.RefuseAll(failure);
    }

    /// <summary>Retires connections that the settings no longer allow: first all with an old login, then the excess above the cap, idle first.</summary>
    private void Trim()
    {
        NntpConnection[] idle;
        lock (_gate)
        {
            _scheduler.MarkLeaving(_login, _dials.Cap.Promised);
            idle = [.. _scheduler.Open.Where(load => load is { IsLeaving: true, Commands: 0 }).Select(Of)];
        }

        foreach (var connection in idle)
            connection.Retire(isStale: true);
    }

    private T Read<T>(Func<NntpConnectionPool, T> what)
    {
        lock (_gate)
            return what(this);
    }

    // Only Adopt adds connections.
    private static NntpConnection Of(ConnectionLoad load) => (NntpConnection)load.Connection;

    private static NntpException Closed() => new(NntpFault.NoConnection, "The connection pool was closed.");
}
