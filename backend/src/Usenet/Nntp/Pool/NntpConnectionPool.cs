namespace Sluice.Usenet.Nntp;

/// <summary>
/// The connections of one provider: warm ones are reused, new ones dialled as demand asks, never more sockets than the cap,
/// those that are still closing included. Fetches wait here, in the order of their lanes, until a connection takes them.
/// </summary>
/// <remarks>
/// Thread-safe. One lock guards all scheduling; below it only the limiter's lock is taken. Every event that could let a
/// waiter go on (a reply, a dial, a closed socket, a permit) ends in <see cref="Pump"/>, so no wake-up is lost.
/// </remarks>
internal sealed class NntpConnectionPool : IConnectionOwner, IAsyncDisposable
{
    private readonly Lock _gate = new();
    private readonly int _provider;
    private readonly ProviderOptions _options;
    private readonly SharedResources _shared;
    private readonly ConnectionOpener _opener;
    private readonly ConnectionCap _cap;
    private readonly CancellationTokenSource _disposing = new();
    private readonly TaskSet _background = new();
    private readonly LeaseScheduler _scheduler;
    private readonly PoolLeases _leases;
    private int _dialling;
    private int _closing;

    public NntpConnectionPool(int provider, ProviderOptions options, SharedResources shared)
    {
        (_provider, _options, _shared) = (provider, options, shared);
        (Line, Health) = (new LineEstimate(shared.Time), new ProviderHealth(options.Id, shared));
        Depth = new PipelineDepth(options, shared);
        _opener = new ConnectionOpener(options, shared, Line);
        _scheduler = new LeaseScheduler(shared.Limiter, shared.Time);
        _leases = new PoolLeases(_scheduler, shared, Expire);
        _cap = new ConnectionCap(options, shared);
    }

    public LineEstimate Line { get; }
    public ProviderHealth Health { get; }
    public PipelineDepth Depth { get; }

    /// <summary>Whether no connection is open and none may be opened now.</summary>
    public bool IsUnreachable
    {
        get
        {
            lock (_gate)
                return _scheduler.Open.Count == 0 && Health.Resting is not null;
        }
    }

    /// <summary>Sockets now: open, being opened, still closing.</summary>
    public int Sockets
    {
        get
        {
            lock (_gate)
                return _scheduler.Open.Count + _dialling + _closing;
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

    /// <summary>Waits for a connection that takes one more command.</summary>
    /// <param name="lease">Held when the task has completed well.</param>
    /// <param name="request">What it is for.</param>
    /// <param name="cancellationToken">Gives the wait up.</param>
    /// <exception cref="NntpException">The provider cannot be reached, or nothing became free in time.</exception>
    public ValueTask LeaseAsync(ConnectionLease lease, in ArticleRequest request, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_disposing.IsCancellationRequested)
                throw Closed();
            if (_scheduler.Open.Count + _dialling == 0 && Health.Resting is { } resting)
                throw new NntpException(resting.Fault, resting.Message, resting);
            var isHeld = _leases.TryLease(lease, this, request, Terms);
            DialAsDemanded();
            if (isHeld)
                return ValueTask.CompletedTask;
        }

        return lease.WaitAsync(cancellationToken);
    }

    /// <summary>Opens a connection if none is open, and leaves it in the pool.</summary>
    public async Task ProbeAsync(CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if ((_scheduler.Open.Count > 0 && Health.Dials.State == BreakerState.Closed) || _scheduler.Open.Count + _dialling + _closing >= _cap.Current)
                return;
            _dialling++;
        }

        if (await DialAsync(Health.Dials.TryProbe(atOnce: true), cancellationToken) is { } failure)
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
            _scheduler.Raise(lease);
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

    void IConnectionOwner.ReplyEnded(NntpConnection connection, PendingReply reply) => EndCommand(connection, reply.Request, reply);

    bool IConnectionOwner.TryRetire(NntpConnection connection)
    {
        lock (_gate)
        {
            var mayGo = connection.Load is { Commands: 0, IsOpen: true };
            if (mayGo)
                MoveToClosing(connection);
            return mayGo;
        }
    }

    void IConnectionOwner.Closing(NntpConnection connection, NntpException reason)
    {
        OperationPermit? permit;
        Health.Closing(connection, reason);
        lock (_gate)
        {
            if (connection.Load.IsOpen)
                MoveToClosing(connection);
            if (reason.Fault == NntpFault.TooManyConnections)
                _cap.Refused(_scheduler.Open.Count);
            permit = connection.Load.TakePermit();
        }

        permit?.Dispose();
    }

    NntpConnection[] IConnectionOwner.Idle()
    {
        lock (_gate)
            return [.. _scheduler.Idle];
    }

    bool IConnectionOwner.HasAnother(NntpConnection connection)
    {
        lock (_gate)
            return _scheduler.Idle.Any() || ((CanDial || _dialling > 0) && !_scheduler.IsDrainingBeside(connection.Load));
    }

    void IConnectionOwner.Closed(NntpConnection connection)
    {
        _shared.Meter.SocketClosed();
        lock (_gate)
            _closing--;
        Pump();
    }

    public async ValueTask DisposeAsync()
    {
        await _disposing.CancelAsync();
        NntpConnection[] open;
        lock (_gate)
        {
            _leases.RefuseAll(Closed());
            open = [.. _scheduler.Open.Select(load => load.Connection)];
        }

        Pump();
        await Task.WhenAll(open.Select(connection => connection.DisposeAsync().AsTask()));
        await _background.WhenAllAsync();
        _leases.Dispose();
        _disposing.Dispose();
    }

    /// <summary>What a lease was for has ended, or was never sent.</summary>
    public void EndCommand(NntpConnection connection, in ArticleRequest request, PendingReply? reply = null)
    {
        OperationPermit? permit;
        lock (_gate)
        {
            connection.Load.Depth = Depth.Bodies(connection.Line);
            permit = LeaseScheduler.End(connection.Load, request);
            _scheduler.Measure(reply);
        }

        permit?.Dispose();
        Pump();
    }

    private void Serve(bool inline)
    {
        ConnectionLease? settled;
        lock (_gate)
        {
            _leases.Serve(Terms);
            DialAsDemanded();
            settled = _leases.TakeSettled();
        }

        PoolLeases.Tell(settled, inline);
    }

    private long? Expire(long now)
    {
        long? next;
        lock (_gate)
            next = _leases.RefuseOverdue(now);
        Pump();
        return next;
    }

    private void MoveToClosing(NntpConnection connection)
    {
        _scheduler.Remove(connection.Load);
        _closing++;
    }

    private LeaseTerms Terms => Depth.Terms(Line, CanDial || _dialling > 0);

    private bool CanDial => _scheduler.Open.Count + _dialling + _closing < _cap.Current && Health.Resting is null && !_disposing.IsCancellationRequested;

    private void DialAsDemanded()
    {
        for (var lacking = _scheduler.Lacking(Depth.PlaybackBodies(Line)) - _dialling; lacking > 0 && _dialling < _shared.Options.HandshakesPerProvider && CanDial; lacking--)
        {
            _dialling++;
            _background.Add(DialAsync(Health.Dials.TryProbe(), _disposing.Token));
        }
    }

    /// <returns>Why the dial failed, or null.</returns>
    private async Task<NntpException?> DialAsync(BreakerProbe? probe, CancellationToken cancellationToken)
    {
        var outcome = await _opener.OpenAsync(cancellationToken);
        using var token = probe;
        lock (_gate)
        {
            _dialling--;
            if (outcome.Transport is not null)
                Adopt(outcome.Transport, probe);
            else if (outcome.Failure!.Fault == NntpFault.TooManyConnections && _scheduler.Open.Count > 0)
                _cap.Refused(_scheduler.Open.Count);
            else if (!outcome.WasCancelled)
                Fail(outcome.Failure, probe);
        }

        Pump();
        return outcome.Failure;
    }

    private void Adopt(NntpTransport transport, BreakerProbe? probe)
    {
        var connection = new NntpConnection(transport, _provider, Line, Depth, _shared, this);
        _scheduler.Add(connection.Load);
        _cap.Reached(_scheduler.Open.Count);
        connection.Start();
        _background.Add(connection.Completion);
        if (_disposing.IsCancellationRequested)
            connection.Abort(Closed());
        if (Health.DialSucceeded(probe))
            NntpLog.Recovered(_shared.Logger, _options.Name);
    }

    private void Fail(NntpException failure, BreakerProbe? probe)
    {
        Health.DialFailed(failure, probe);
        NntpLog.DialFailed(_shared.Logger, _options.Name, failure.Message);
        if (_scheduler.Open.Count == 0 && _dialling == 0)
            _leases.RefuseAll(failure);
    }

    private static NntpException Closed() => new(NntpFault.NoConnection, "The connection pool was closed.");
}
