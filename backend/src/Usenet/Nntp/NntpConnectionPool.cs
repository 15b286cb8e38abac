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
        _provider = provider;
        _options = options;
        _shared = shared;
        Line = new LineEstimate(shared.Time);
        Health = new ProviderHealth(shared.Time);
        Depth = new PipelineDepth(options, shared);
        _opener = new ConnectionOpener(options, shared, Line);
        _scheduler = new LeaseScheduler(shared.Limiter, shared.Time);
        _grant = Grant;
        _cap = new ConnectionCap(options.MaxConnections, shared.Time);
    }

    public LineEstimate Line { get; }

    public ProviderHealth Health { get; }

    public PipelineDepth Depth { get; }

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
            if (_scheduler.Open.Count == 0 && Health.Resting is { } resting)
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
            if (_scheduler.Open.Count > 0)
                return;
            _dialling++;
        }

        if (await DialAsync(cancellationToken) is { } failure)
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

    /// <summary>A reply on the connection is late, or not any more; while it is, nothing more is placed there.</summary>
    public void Suspect(NntpConnection connection, bool isLate)
    {
        lock (_gate)
            connection.Load.IsSuspect = isLate;
        if (!isLate)
            Pump();
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
        lock (_gate)
        {
            if (connection.Load.IsOpen)
                MoveToClosing(connection);
            if (reason.Fault == NntpFault.TooManyConnections)
                LearnCap();
            permit = connection.Load.TakePermit();
        }

        permit?.Dispose();
    }

    NntpConnection[] IConnectionOwner.Idle()
    {
        lock (_gate)
            return [.. _scheduler.Idle];
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
        lock (_gate)
        {
            if (!_scheduler.Withdraw(waiter))
                return;
        }

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

    private LeaseTerms Terms => new(
        Depth.Bodies(Line),
        (CanDial || _dialling > 0) && Line.BytesPerSecond > 0 ? (long)(Line.Handshake * Line.BytesPerSecond) : long.MaxValue,
        Depth.Stats(Line));

    private bool CanDial => _scheduler.Open.Count + _dialling + _closing < _cap.Current && Health.Resting is null && !_disposing.IsCancellationRequested;

    private void DialAsDemanded()
    {
        var lacking = _scheduler.Lacking(Depth.Bodies(Line)) - _dialling;
        for (; lacking > 0 && _dialling < _shared.Options.HandshakesPerProvider && CanDial; lacking--)
        {
            _dialling++;
            _background.Add(DialAsync(_disposing.Token));
        }
    }

    /// <returns>Why the dial failed, or null.</returns>
    private async Task<NntpException?> DialAsync(CancellationToken cancellationToken)
    {
        var outcome = await _opener.OpenAsync(cancellationToken);
        lock (_gate)
        {
            _dialling--;
            if (outcome.Transport is not null)
                Adopt(outcome.Transport);
            else if (outcome.Failure!.Fault == NntpFault.TooManyConnections && _scheduler.Open.Count > 0)
                LearnCap();
            else if (!outcome.WasCancelled)
                Fail(outcome.Failure);
        }

        Pump();
        return outcome.Failure;
    }

    private void Adopt(NntpTransport transport)
    {
        var connection = new NntpConnection(transport, _provider, Line, Depth, _shared, this);
        _scheduler.Add(connection.Load);
        connection.Start();
        _background.Add(connection.Completion);
        if (_disposing.IsCancellationRequested)
            connection.Abort(Closed());
        if (Health.Succeeded())
            NntpLog.Recovered(_shared.Logger, _options.Name);
    }

    private void Fail(NntpException failure)
    {
        Health.Failed(failure);
        NntpLog.DialFailed(_shared.Logger, _options.Name, failure.Message);
        if (_scheduler.Open.Count == 0 && _dialling == 0)
            _scheduler.FailAll(failure);
    }

    private static NntpException Closed() => new(NntpFault.NoConnection, "The connection pool was closed.");

    private void LearnCap()
    {
        if (_cap.Refused(_scheduler.Open.Count))
            NntpLog.CapLearned(_shared.Logger, _options.Name, _cap.Current);
    }
}
