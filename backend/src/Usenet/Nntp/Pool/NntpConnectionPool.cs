using System.Net.Sockets;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// The connections of one account: warm ones are reused, new ones dialled as demand asks, never more sockets than the cap,
/// those that are still closing included. Fetches wait here, in the order of their lanes, until a connection takes them.
/// </summary>
/// <remarks>
/// Thread-safe. One lock guards all scheduling; below it only the limiter's lock is taken. Every event that could let a
/// waiter go on (a reply, a dial, a closed socket, a permit) ends in <see cref="Pump"/>, so no wake-up is lost.
/// </remarks>
internal sealed class NntpConnectionPool : IConnectionOwner, IDialPlaces, IAsyncDisposable
{
    // Rounding may fire a timer a moment early; this keeps it from firing in a row.
    private static readonly TimeSpan ShortestWait = TimeSpan.FromMilliseconds(5);

    private readonly Lock _gate = new();
    private readonly SharedResources _shared;
    private readonly ConnectionOpener _opener;
    private readonly CancellationTokenSource _disposing = new();
    private readonly TaskSet _background = new();
    private readonly LeaseScheduler _scheduler;
    private readonly PoolLeases _leases;
    private readonly PoolSockets _sockets;
    private readonly ITimer _again;
    private volatile ProviderOptions _options;

    // Counts the logins of the account; guarded by _gate.
    private int _login;

    public NntpConnectionPool(ProviderOptions options, SharedResources shared)
    {
        (_options, _shared) = (options, shared);
        (Line, Health) = (new LineEstimate(shared.Time), new ProviderHealth(options.Id, shared));
        Depth = new PipelineDepth(options, shared);
        _opener = new ConnectionOpener(shared, Line, this);
        _scheduler = new LeaseScheduler(shared.Limiter, shared.Time);
        _leases = new PoolLeases(_scheduler, shared, Expire);
        _again = shared.Time.CreateTimer(static state => ((NntpConnectionPool)state!).Pump(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _sockets = new PoolSockets(_scheduler, Health, new ConnectionCap(options, shared), shared);
    }

    public LineEstimate Line { get; }
    public ProviderHealth Health { get; }
    public PipelineDepth Depth { get; }

    /// <summary>What is remembered about the account is kept under this: the id of the first of its entries.</summary>
    public Guid Id => _options.Id;

    /// <summary>Whether the settings say that the account is not used.</summary>
    public bool IsDisabled => _options.Kind == ProviderKind.Disabled;

    /// <summary>Whether no connection is open and none may be opened now.</summary>
    public bool IsUnreachable
    {
        get
        {
            lock (_gate)
                return _sockets.NoneIsOpen && Health.Resting is not null;
        }
    }

    /// <summary>Whether no connection serves.</summary>
    public bool NoneIsOpen
    {
        get
        {
            lock (_gate)
                return _sockets.NoneIsOpen;
        }
    }

    /// <summary>Sockets now: open, being opened, still closing.</summary>
    public int Sockets
    {
        get
        {
            lock (_gate)
                return _sockets.Count;
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

    /// <summary>
    /// Takes on other settings of the same account. Connections beyond a lower cap, and all that were opened with another login, take
    /// nothing more: idle ones close now, busy ones when their replies have ended.
    /// </summary>
    public void Change(ProviderOptions options)
    {
        bool isOtherLogin;
        lock (_gate)
        {
            isOtherLogin = !HasSameLogin(_options, options);
            _options = options;
            Depth.Change(options);
            _sockets.Change(options);
            if (isOtherLogin)
                _login++;
        }

        Health.Configure();
        if (isOtherLogin)
            Health.Forget();
        Trim();
        Pump();
    }

    /// <summary>What an earlier run has stored about the account is there now.</summary>
    public void Recall()
    {
        lock (_gate)
            _sockets.Recall();
        Health.Recall();
        Pump();
    }

    /// <summary>Waits for a connection that takes one more command.</summary>
    /// <param name="lease">Held when the task has completed well.</param>
    /// <param name="request">What it is for.</param>
    /// <param name="cancellationToken">Gives the wait up.</param>
    /// <exception cref="NntpException">The provider cannot be reached, or nothing became free in time.</exception>
    public ValueTask LeaseAsync(ConnectionLease lease, in ArticleRequest request, CancellationToken cancellationToken)
    {
        bool isHeld;
        ConnectionLease? settled;
        lock (_gate)
        {
            if (_disposing.IsCancellationRequested)
                throw Closed();
            if (_sockets.NoneWillServe && Health.Resting is { } resting)
                throw new NntpException(resting.Fault, resting.Message, resting);
            isHeld = _leases.TryLease(lease, this, request, Terms);

            // What waits before it may wait for something else than the connection that is free.
            _leases.Serve(Terms);
            DialAsDemanded();
            settled = _leases.TakeSettled();
        }

        // The caller may hold locks.
        PoolLeases.Tell(settled, inline: false);
        return isHeld ? ValueTask.CompletedTask : lease.WaitAsync(cancellationToken);
    }

    /// <summary>Opens a connection if none is open, and leaves it in the pool.</summary>
    public Task ProbeAsync(CancellationToken cancellationToken) => ProbeAsync(_options, cancellationToken);

    /// <summary>
    /// Opens a connection with the login of one entry if none is open, and leaves it in the pool. Where the account goes by the login of
    /// another entry, the connection only shows whether this one is accepted.
    /// </summary>
    /// <exception cref="NntpException">It cannot be reached or logged in to.</exception>
    public async Task ProbeAsync(ProviderOptions entry, CancellationToken cancellationToken)
    {
        int login;
        bool isOwn;
        lock (_gate)
        {
            isOwn = HasSameLogin(entry, _options);
            if (_sockets.IsFull || (isOwn && !_sockets.NoneIsOpen && Health.Dials.State == BreakerState.Closed))
                return;
            _sockets.BeginDial();
            login = _login;
        }

        var failure = isOwn ? await DialAsync(login, Health.Dials.TryProbe(atOnce: true), cancellationToken) : await TryLoginAsync(entry, cancellationToken);
        if (failure is not null)
            throw failure;
    }

    /// <summary>Places whoever can be placed, and dials for the rest.</summary>
    public void Pump() => Serve(inline: true);

    /// <summary>Sends away whoever waits for a body, because those of this provider fail: to another one, or back here where there is none.</summary>
    public void SendAway()
    {
        lock (_gate)
            _leases.RefuseBodies(new NntpException(NntpFault.GivenUp, "The provider fails again and again."));
        Pump();
    }

    /// <summary>By a lease: a reader has come to wait for its article, and may hold a lock.</summary>
    public void Raise(ConnectionLease lease)
    {
        lock (_gate)
            _leases.Raise(lease);
        Serve(inline: false);
    }

    /// <summary>By a lease: it is not wanted any more; others may go on in its place. Nothing happens when its wait has ended.</summary>
    public void Withdraw(ConnectionLease lease, CancellationToken cancelled)
    {
        bool waited;
        lock (_gate)
            waited = _leases.Withdraw(lease, cancelled);
        if (waited)
            Pump();
    }

    void IConnectionOwner.Changed() => Pump();

    void IConnectionOwner.Missed(MessageId id) => _shared.Memory.RememberMissing(_options.Id, id);

    void IConnectionOwner.ReplyEnded(NntpConnection connection, PendingReply reply) => EndCommand(connection, reply.Request, reply);

    bool IConnectionOwner.TryRetire(NntpConnection connection, bool isStale)
    {
        lock (_gate)
        {
            if (connection.Load is not { Commands: 0, IsOpen: true } || (!isStale && _sockets.AreOnlyTheFloor))
                return false;
            _sockets.BeginClose(connection.Load);
        }

        Pump();
        return true;
    }

    void IConnectionOwner.Closing(NntpConnection connection, NntpException reason)
    {
        OperationPermit? permit;
        Health.Closing(connection, reason);
        lock (_gate)
        {
            if (connection.Load.IsOpen)
                _sockets.BeginClose(connection.Load);
            if (reason.Fault == NntpFault.TooManyConnections)
                _sockets.Refused(_sockets.Count - 1);
            permit = connection.Load.TakePermit();
        }

        permit?.Dispose();
        Pump();
    }

    NntpConnection[] IConnectionOwner.Idle()
    {
        lock (_gate)
            return [.. _scheduler.Idle];
    }

    bool IConnectionOwner.HasAnother(NntpConnection connection)
    {
        lock (_gate)
            return _scheduler.Idle.Any() || (_sockets.MoreMayServe && !_scheduler.IsDrainingBeside(connection.Load));
    }

    bool IConnectionOwner.HasOnlyTheFloor
    {
        get
        {
            lock (_gate)
                return _sockets.AreOnlyTheFloor;
        }
    }

    bool IDialPlaces.TryTake()
    {
        lock (_gate)
            return _sockets.TryBeginBeside();
    }

    void IDialPlaces.Return()
    {
        lock (_gate)
            _sockets.EndBeside();
        Pump();
    }

    void IDialPlaces.Leave(Socket socket)
    {
        lock (_gate)
            _sockets.BeginClose();
        _background.Add(LeaveAndCloseAsync(socket));
    }

    Task IConnectionOwner.LeaveAsync(Socket socket) => LeaveAsync(socket);

    void IConnectionOwner.Closed(NntpConnection connection) => SocketGone();

    private async Task LeaveAndCloseAsync(Socket socket)
    {
        await LeaveAsync(socket);
        SocketGone();
    }

    private async Task LeaveAsync(Socket socket)
    {
        var left = new LeftSocket(socket, _shared);
        lock (_gate)
            _sockets.Left(left);
        await left.WaitAsync(() => _sockets.ResetsHelp, _disposing.Token);
        lock (_gate)
            _sockets.Noticed(left);
    }

    private void SocketGone()
    {
        _shared.Meter.SocketClosed();
        lock (_gate)
            _sockets.EndClose();
        Pump();
    }

    public async ValueTask DisposeAsync()
    {
        await _disposing.CancelAsync();
        NntpConnection[] open;
        lock (_gate)
        {
            _leases.RefuseAll(Closed());
            _sockets.Close();
            open = [.. _scheduler.Open.Select(load => load.Connection)];
        }

        Pump();
        await Task.WhenAll(open.Select(connection => connection.DisposeAsync().AsTask()));
        await _background.WhenAllAsync();
        await _again.DisposeAsync();
        _leases.Dispose();
        _disposing.Dispose();
    }

    /// <summary>What a lease was for has ended, or was never sent.</summary>
    public void EndCommand(NntpConnection connection, in ArticleRequest request, PendingReply? reply = null)
    {
        OperationPermit? permit;
        bool leaves;
        lock (_gate)
        {
            connection.Load.Depth = Depth.Bodies(connection.Line);
            permit = LeaseScheduler.End(connection.Load, request);
            leaves = connection.Load is { IsLeaving: true, Commands: 0 };
            _scheduler.Measure(reply);
        }

        permit?.Dispose();
        if (leaves)
            connection.Retire(isStale: true);
        Pump();
    }

    /// <summary>Lets those connections go that the settings do not allow any more.</summary>
    private void Trim()
    {
        NntpConnection[] idle;
        lock (_gate)
            idle = _sockets.MarkLeaving(_login);
        foreach (var connection in idle)
            connection.Retire(isStale: true);
    }

    private static bool HasSameLogin(ProviderOptions one, ProviderOptions other) =>
        (one.User, one.Password, one.UseTls, one.SkipTlsVerification, one.TlsPin)
            == (other.User, other.Password, other.UseTls, other.SkipTlsVerification, other.TlsPin);

    /// <summary>Places the fetches that can be placed, and dials for the rest.</summary>
    private void Serve(bool inline)
    {
        ConnectionLease? settled;
        bool freesPermit;
        lock (_gate)
        {
            _leases.Serve(Terms);
            DialAsDemanded();
            settled = _leases.TakeSettled();
            freesPermit = inline && _scheduler.TakeFreesPermit();
        }

        PoolLeases.Tell(settled, inline);
        if (freesPermit)
            _shared.Limiter.Wake();
    }

    private long? Expire(long now)
    {
        long? next;
        var late = new List<IPendingFetch>();
        lock (_gate)
            next = _leases.RefuseOverdue(now, late);
        Pump();
        foreach (var fetch in late)
            fetch.BeLate(isSent: false);
        return next;
    }

    private LeaseTerms Terms => Depth.Terms(Line, _sockets.MoreMayServe);

    private void DialAsDemanded()
    {
        TimeSpan? again;
        while (_sockets.TryDial(Depth.PlaybackBodies(Line), out again))
            _background.Add(DialAsync(_login, Health.Dials.TryProbe(), _disposing.Token));

        // That nothing has played for a while is no event of its own.
        if (_scheduler.BackgroundMayGrowIn is { } rest && !(again < rest))
            again = rest;
        if (again is { } due)
            _again.Change(due > ShortestWait ? due : ShortestWait, Timeout.InfiniteTimeSpan);
    }

    /// <returns>Why the dial failed, or null.</returns>
    private async Task<NntpException?> DialAsync(int login, BreakerProbe? probe, CancellationToken cancellationToken)
    {
        bool mustTrim;
        var options = _options;
        var outcome = await _opener.OpenAsync(options, cancellationToken);
        using var token = probe;
        lock (_gate)
        {
            _sockets.EndDial();
            if (outcome.Transport is not null)
                Adopt(outcome.Transport, login, probe);
            else if (outcome.Failure!.Fault == NntpFault.TooManyConnections && !_sockets.HasNone)
                _sockets.Refused(_sockets.Count);
            else
                Fail(outcome, login, probe);
            mustTrim = outcome.Transport is not null && (login != _login || _sockets.IsBeyondCap);
        }

        if (mustTrim)
            Trim();
        Pump();
        return outcome.Failure;
    }

    private async Task<NntpException?> TryLoginAsync(ProviderOptions entry, CancellationToken cancellationToken)
    {
        var outcome = await _opener.OpenAsync(entry, cancellationToken);
        if (outcome.Transport is not null)
        {
            await outcome.Transport.DisposeAsync();
            _shared.Meter.SocketClosed();
        }

        lock (_gate)
            _sockets.EndDial();
        Pump();
        return outcome.Failure;
    }

    private void Adopt(NntpTransport transport, int login, BreakerProbe? probe)
    {
        var connection = new NntpConnection(transport, login, Line, Depth, _shared, this);
        _sockets.Opened(connection.Load);
        connection.Start();
        _background.Add(connection.Completion);
        if (_disposing.IsCancellationRequested)
            connection.Abort(Closed());
        if (Health.DialSucceeded(probe))
            NntpLog.Recovered(_shared.Logger, _options.Name);
    }

    private void Fail(OpenOutcome outcome, int login, BreakerProbe? probe)
    {
        _sockets.Failed();
        if (outcome.Failure!.Fault == NntpFault.TooManyConnections)
            _sockets.RefusedAll();
        if (outcome.WasCancelled || login != _login)
            return;
        var failure = outcome.Failure;
        Health.DialFailed(failure, probe);
        NntpLog.DialFailed(_shared.Logger, _options.Name, failure.Message);
        if (_sockets.NoneWillServe)
            _leases.RefuseAll(failure);
    }

    private static NntpException Closed() => new(NntpFault.NoConnection, "The connection pool was closed.");
}
