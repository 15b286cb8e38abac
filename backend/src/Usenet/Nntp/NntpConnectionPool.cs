using Microsoft.Extensions.Logging;

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
    // Beyond this many commands for each connection a further connection brings more than a deeper pipeline.
    private const int CommandsWorthAConnection = 4;
    private const long TypicalArticleBytes = 740_000;

    private readonly Lock _gate = new();
    private readonly int _provider;
    private readonly ProviderOptions _options;
    private readonly NntpOptions _limits;
    private readonly GlobalOperationLimiter _limiter;
    private readonly SemaphoreSlim _handshakes;
    private readonly NntpMeter _meter;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly NntpDialer _dialer;
    private readonly ConnectionCap _cap;
    private readonly CancellationTokenSource _disposing = new();
    private readonly List<NntpConnection> _open = [];
    private readonly HashSet<Task> _background = [];
    private readonly Queue<LeaseWaiter>[] _waiting = [.. Enumerable.Range(0, LeaseWaiter.Classes).Select(_ => new Queue<LeaseWaiter>())];
    private int _dialling;
    private int _closing;

    public NntpConnectionPool(int provider, ProviderOptions options, NntpOptions limits, GlobalOperationLimiter limiter, SemaphoreSlim handshakes, NntpMeter meter, TimeProvider time, ILogger logger)
    {
        _provider = provider;
        _options = options;
        _limits = limits;
        _limiter = limiter;
        _handshakes = handshakes;
        _meter = meter;
        _time = time;
        _logger = logger;
        _dialer = new NntpDialer(options, limits, meter, time);
        _cap = new ConnectionCap(options.MaxConnections, time);
        Line = new LineEstimate(time);
        Health = new ProviderHealth(time);
    }

    public LineEstimate Line { get; }

    public ProviderHealth Health { get; }

    /// <summary>Sockets now: open, being opened, still closing.</summary>
    public int Sockets
    {
        get
        {
            lock (_gate)
                return _open.Count + _dialling + _closing;
        }
    }

    /// <summary>Connections opened since the start.</summary>
    public int Opened { get; private set; }

    /// <summary>Seconds until a new fetch would be through, by what is outstanding; for choosing among equal providers.</summary>
    public double Backlog
    {
        get
        {
            lock (_gate)
                return Line.TimeFor(_open.Sum(connection => connection.Load.Bytes)) / Math.Max(1, _options.MaxConnections);
        }
    }

    /// <summary>Waits for a connection that takes one more command.</summary>
    /// <exception cref="NntpException">The provider cannot be reached, or nothing became free in time.</exception>
    public async ValueTask<ConnectionLease> LeaseAsync(ArticleRequest request, CancellationToken cancellationToken)
    {
        LeaseWaiter waiter;
        lock (_gate)
        {
            ObjectDisposedException.ThrowIf(_disposing.IsCancellationRequested, this);
            if (_open.Count == 0 && Health.Resting is { } resting)
                throw new NntpException(resting.Fault, resting.Message, resting);
            if (NobodyWaitsBefore(request) && TryPlace(request) is { } lease)
            {
                DialAsDemanded();
                return lease;
            }

            waiter = new LeaseWaiter(request);
            _waiting[waiter.Class].Enqueue(waiter);
            DialAsDemanded();
        }

        var wanted = _time.GetTimestamp();
        try
        {
            return await waiter.WaitAsync(_limits.LeaseTimeout, _time, cancellationToken);
        }
        finally
        {
            _meter.Waited(wanted);
        }
    }

    /// <summary>Opens a connection if none is open, and leaves it in the pool.</summary>
    public async Task ProbeAsync(CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_open.Count > 0)
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
            foreach (var queue in _waiting)
            {
                while (queue.TryPeek(out var waiter))
                {
                    if (waiter.IsOver)
                    {
                        queue.Dequeue();
                        continue;
                    }

                    if (TryPlace(waiter.Request) is not { } lease)
                        break;
                    queue.Dequeue();
                    if (!waiter.TryGrant(lease))
                        Release(lease);
                }
            }

            DialAsDemanded();
        }
    }

    /// <summary>A lease was given back before its command was sent.</summary>
    public void ReturnUnused(NntpConnection connection, ArticleRequest request) => EndCommand(connection, request.ExpectedBytes);

    void IConnectionOwner.ReplyEnded(NntpConnection connection, ArticleBody body) => EndCommand(connection, body.ExpectedBytes);

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
            permit = TakePermit(connection);
        }

        permit?.Dispose();
    }

    void IConnectionOwner.Closed(NntpConnection connection)
    {
        _meter.SocketClosed();
        lock (_gate)
            _closing--;
        Pump();
    }

    public async ValueTask DisposeAsync()
    {
        await _disposing.CancelAsync();
        Task[] background;
        NntpConnection[] open;
        lock (_gate)
        {
            FailWaiters(new NntpException(NntpFault.NoConnection, "The connection pool was closed."));
            open = [.. _open];
            background = [.. _background];
        }

        await Task.WhenAll(open.Select(connection => connection.DisposeAsync().AsTask()));
        await Task.WhenAll(background);
        _disposing.Dispose();
    }

    private bool NobodyWaitsBefore(ArticleRequest request)
    {
        var own = new LeaseWaiter(request).Class;
        return !_waiting.Take(own + 1).Any(queue => queue.Any(waiter => !waiter.IsOver));
    }

    /// <summary>Finds the connection that would finish the command first.</summary>
    /// <returns>Null when waiting is better, or nothing can be had.</returns>
    private ConnectionLease? TryPlace(ArticleRequest request)
    {
        NntpConnection? idle = null;
        NntpConnection? busy = null;
        var depth = Depth;
        foreach (var connection in _open)
        {
            var load = connection.Load;
            if (load.Commands == 0)
                idle = connection;
            else if (load.Lane == request.Lane && load.Commands < depth && (busy is null || load.Bytes < busy.Load.Bytes))
                busy = connection;
        }

        if (idle is not null && _limiter.TryAcquire(request.Lane) is { } permit)
        {
            idle.Load.Permit = permit;
            idle.Load.Lane = request.Lane;
            return Lease(idle, request);
        }

        if (busy is null || !_limiter.MayGoOn(request.Lane))
            return null;
        var dialIsFaster = (CanDial || _dialling > 0) && Line.TimeFor(busy.Load.Bytes) > Line.Handshake;
        return dialIsFaster ? null : Lease(busy, request);
    }

    private ConnectionLease Lease(NntpConnection connection, ArticleRequest request)
    {
        connection.Load.Commands++;
        connection.Load.Bytes += request.ExpectedBytes;
        return new ConnectionLease(this, connection, request);
    }

    // Called under the lock for a grant that nobody took: the permit must not be disposed here, because that wakes pools.
    private void Release(ConnectionLease lease) => Track(ReleaseAsync(lease));

    private static async Task ReleaseAsync(ConnectionLease lease)
    {
        await Task.Yield();
        lease.Dispose();
    }

    private void EndCommand(NntpConnection connection, long expectedBytes)
    {
        OperationPermit? permit = null;
        lock (_gate)
        {
            if (connection.Load.IsOpen)
            {
                connection.Load.Commands--;
                connection.Load.Bytes -= expectedBytes;
                if (connection.Load.Commands == 0)
                    permit = TakePermit(connection);
            }
        }

        permit?.Dispose();
        Pump();
    }

    private static OperationPermit? TakePermit(NntpConnection connection)
    {
        var permit = connection.Load.Permit;
        connection.Load.Permit = null;
        return permit;
    }

    private void MoveToClosing(NntpConnection connection)
    {
        connection.Load.IsOpen = false;
        _open.Remove(connection);
        _closing++;
    }

    private int Depth => _options.PipeliningDepth ?? Line.Depth(TypicalArticleBytes, _limits.MaxPipeliningDepth);

    private bool CanDial => _open.Count + _dialling + _closing < _cap.Current && Health.Resting is null && !_disposing.IsCancellationRequested;

    private void DialAsDemanded()
    {
        var waiting = _waiting.Sum(queue => queue.Count(waiter => !waiter.IsOver));
        var demand = waiting + _open.Sum(connection => connection.Load.Commands);
        var perConnection = Math.Min(Depth, CommandsWorthAConnection);
        var wanted = (demand + perConnection - 1) / perConnection;
        while (_open.Count + _dialling < wanted && _dialling < _limits.HandshakesPerProvider && CanDial)
        {
            _dialling++;
            Track(DialAsync(_disposing.Token));
        }
    }

    /// <returns>Why the dial failed, or null.</returns>
    private async Task<NntpException?> DialAsync(CancellationToken cancellationToken)
    {
        await Task.Yield();
        NntpTransport? transport = null;
        NntpException? failure = null;
        try
        {
            await _handshakes.WaitAsync(cancellationToken);
            try
            {
                var started = _time.GetTimestamp();
                transport = await _dialer.DialAsync(cancellationToken);
                Line.ObserveHandshake(started);
            }
            finally
            {
                _handshakes.Release();
            }
        }
        catch (NntpException error)
        {
            failure = error;
        }
        catch (OperationCanceledException error)
        {
            failure = new NntpException(NntpFault.NoConnection, "The connection was not needed any more.", error);
        }

        EndDial(transport, failure, counts: failure is not null && !cancellationToken.IsCancellationRequested);
        Pump();
        return failure;
    }

    private void EndDial(NntpTransport? transport, NntpException? failure, bool counts)
    {
        lock (_gate)
        {
            _dialling--;
            if (transport is not null)
            {
                Adopt(transport);
                return;
            }

            if (failure?.Fault == NntpFault.TooManyConnections && _open.Count > 0)
                LearnCap();
            else if (counts)
                Fail(failure!);
        }
    }

    private void Adopt(NntpTransport transport)
    {
        var connection = new NntpConnection(transport, _provider, _limits, Line, _meter, _time, _logger, this);
        _open.Add(connection);
        Opened++;
        connection.Start();
        Track(connection.Completion);
        if (_disposing.IsCancellationRequested)
            connection.Abort(new NntpException(NntpFault.NoConnection, "The connection pool was closed."));
        if (Health.Succeeded())
            NntpLog.Recovered(_logger, _options.Name);
    }

    private void Fail(NntpException failure)
    {
        Health.Failed(failure);
        NntpLog.DialFailed(_logger, _options.Name, failure.Message);
        if (_open.Count == 0 && _dialling == 0)
            FailWaiters(failure);
    }

    private void FailWaiters(NntpException failure)
    {
        foreach (var queue in _waiting)
        {
            while (queue.TryDequeue(out var waiter))
                waiter.Fail(failure);
        }
    }

    private void LearnCap()
    {
        var before = _cap.Current;
        _cap.Refused(_open.Count);
        if (_cap.Current < before)
            NntpLog.CapLearned(_logger, _options.Name, _cap.Current);
    }

    private void Track(Task task)
    {
        if (task.IsCompleted)
            return;
        lock (_gate)
            _background.Add(task);
        task.ContinueWith(
            static (ended, state) =>
            {
                var pool = (NntpConnectionPool)state!;
                lock (pool._gate)
                    pool._background.Remove(ended);
            },
            this,
            CancellationToken.None,
            TaskContinuationOptions.ExecuteSynchronously,
            TaskScheduler.Default);
    }
}
