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
    private readonly Action<LeaseWaiter, ConnectionLoad> _grant;
    private int _dialling;
    private int _closing;

    public NntpConnectionPool(int provider, ProviderOptions options, SharedResources shared)
    {
        (_provider, _options, _shared) = (provider, options, shared);
        (Line, Health) = (new LineEstimate(shared.Time), new ProviderHealth(options.Id, shared));
        Depth = new PipelineDepth(options, shared);
        _opener = new ConnectionOpener(options, shared, Line);
        _scheduler = new LeaseScheduler(shared.Limiter, shared.Time);
        _grant = Grant;
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
    /// <exception cref="NntpException">The provider cannot be reached, or nothing became free in time.</exception>
    public async ValueTask<ConnectionLease> LeaseAsync(ArticleRequest request, CancellationToken cancellationToken)
    {
        LeaseWaiter waiter;
        lock (_gate)
        {
            if (_disposing.IsCancellationRequested)
                throw Closed();
            if (_scheduler.Open.Count + _dialling == 0 && Health.Resting is { } resting)
                throw new NntpException(resting.Fault, resting.Message, resting);
            if (_scheduler.TryLease(request, Terms) is { } load)
            {
                DialAsDemanded();
                return new ConnectionLease(this, load.Connection, request);
            }

            waiter = new LeaseWaiter(request);
            _scheduler.Enqueue(waiter);
            DialAsDemanded();
        }

        var wanted = _shared.Time.GetTimestamp();
        try
        {
            return await waiter.WaitAsync(_shared, Raise, cancellationToken);
        }
        finally
        {
            Withdraw(waiter);
            _shared.Meter.Waited(wanted);
        }
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
    public void Pump()
    {
        lock (_gate)
        {
            _scheduler.Serve(Terms, _grant);
            DialAsDemanded();
        }
    }

    /// <summary>Sends away whoever waits, because bodies of this provider fail: to another one, or back here where there is none.</summary>
    public void SendAway()
    {
        lock (_gate)
            _scheduler.FailAll(new NntpException(NntpFault.GivenUp, "The provider fails again and again."));
    }

    void IConnectionOwner.ReplyEnded(NntpConnection connection, PendingReply reply) => EndCommand(connection, reply.Request);

    bool IConnectionOwner.TryRetire(NntpConnection connection)
    {
        lock (_gate)
        {
            if (connection.Load.Commands > 0 || !connection.Load.IsOpen)
                return false;
            MoveToClosing(connection);
            return true;
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
            _scheduler.FailAll(Closed());
            open = [.. _scheduler.Open.Select(load => load.Connection)];
        }

        await Task.WhenAll(open.Select(connection => connection.DisposeAsync().AsTask()));
        await _background.WhenAllAsync();
        _disposing.Dispose();
    }

    /// <summary>Takes a waiter out that has given up; others may go on in its place.</summary>
    private void Withdraw(LeaseWaiter waiter)
    {
        bool waited;
        lock (_gate)
            waited = _scheduler.Withdraw(waiter);
        if (waited)
            Pump();
    }

    private void Raise(LeaseWaiter waiter)
    {
        lock (_gate)
            _scheduler.Raise(waiter);
        Pump();
    }

    // Called under the lock, where a permit must not be disposed, because that wakes pools.
    private void Grant(LeaseWaiter waiter, ConnectionLoad load)
    {
        var lease = new ConnectionLease(this, load.Connection, waiter.Request);
        if (!waiter.TryGrant(lease))
            _background.Add(lease.DisposeLaterAsync());
    }

    /// <summary>What a lease was for has ended, or was never sent.</summary>
    public void EndCommand(NntpConnection connection, ArticleRequest request)
    {
        OperationPermit? permit;
        lock (_gate)
        {
            connection.Load.Depth = Depth.Bodies(connection.Line);
            permit = LeaseScheduler.End(connection.Load, request);
        }

        permit?.Dispose();
        Pump();
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
        for (var lacking = _scheduler.Lacking(Depth.Bodies(Line)) - _dialling; lacking > 0 && _dialling < _shared.Options.HandshakesPerProvider && CanDial; lacking--)
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
            _scheduler.FailAll(failure);
    }

    private static NntpException Closed() => new(NntpFault.NoConnection, "The connection pool was closed.");
}
