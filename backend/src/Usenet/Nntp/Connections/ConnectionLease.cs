using Sluice.Usenet.Nntp.Admission;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// The right to send one command, or one batch, on a connection and to receive its reply. A lease first waits in a pool's queue and is then held. Disposing the
/// lease decides what happens to the connection if the reply was abandoned.
/// </summary>
/// <remarks>For one use by one owner, who may raise or cancel it on any thread. The outcome of the wait is decided once, under the pool's lock.</remarks>
internal sealed class ConnectionLease(in ArticleRequest request, IPendingFetch? fetch = null, ushort attempt = 0) : LeaseWaiter(request), IDisposable
{
    // Null until the owner requests a connection.
    private NntpConnectionPool? _pool;

    // The owner sets _pool and _reply before it checks for a raise or cancellation. A thread that raises or cancels reads these fields afterwards, so at least
    // one of the two threads sees what the other did.
    private PendingReply? _reply;
    private bool _isGivenUp;

    // Registered for the wait first, then for the reply.
    private CancellationTokenRegistration _registration;

    public IPendingFetch? Fetch => fetch;

    /// <summary>Number of the fetch's attempt that uses this lease.</summary>
    public int Attempt => attempt;

    /// <summary>The connection that sends the command; null before the grant. The cast is safe, because the pool grants no other type.</summary>
    public NntpConnection? Connection => (NntpConnection?)Load?.Connection;

    public override bool HasFetch => fetch is not null;

    /// <summary>Called by the pool, under no lock, when the owner requests a connection.</summary>
    public void Begin(NntpConnectionPool pool) => Interlocked.Exchange(ref _pool, pool);

    public override void OnLongWait() => fetch!.OnLate(attempt, isSent: false);

    /// <summary>Called by the pool: waits until <see cref="LeaseWaiter.Settle"/> reports the outcome.</summary>
    /// <exception cref="NntpException">No connection became free in time, or the provider cannot be reached.</exception>
    /// <exception cref="OperationCanceledException">The token was canceled, or the lease was given up.</exception>
    public ValueTask WaitAsync(CancellationToken cancellationToken)
    {
        _registration = cancellationToken.UnsafeRegister(static (lease, token) => ((ConnectionLease)lease!).Withdraw(token), this);
        if (_isGivenUp)
            _pool!.Withdraw(this, GivenUp);
        return new ValueTask(this, Version);
    }

    /// <summary>Moves this lease ahead of prefetches, because a reader now waits for the article.</summary>
    public void Raise() => Volatile.Read(ref _pool)?.Raise(this);

    /// <summary>Ends the wait or the reply with an <see cref="OperationCanceledException"/>, or prevents its start. Does nothing after the reply.</summary>
    public void GiveUp() => Withdraw(GivenUp);

    /// <summary>Sends BODY and waits for the end of the reply. The fetch receives the body.</summary>
    public ValueTask<ReplyOutcome> FetchAsync(CancellationToken cancellationToken) => AskAsync(new ArticleBody(this), cancellationToken);

    /// <summary>Sends BODY and waits for the end of the reply. The sink receives the body.</summary>
    public ValueTask<ReplyOutcome> FetchAsync(IArticleSink sink, CancellationToken cancellationToken = default) =>
        AskAsync(new ArticleBody(this, sink), cancellationToken);

    /// <summary>Sends the commands and waits for the end of their reply. Called at most once.</summary>
    /// <exception cref="NntpException">The reply did not arrive completely.</exception>
    /// <exception cref="OperationCanceledException">The token was canceled, or the lease was given up.</exception>
    public ValueTask<ReplyOutcome> AskAsync(PendingReply reply, CancellationToken cancellationToken = default)
    {
        Interlocked.Exchange(ref _reply, reply);
        if (_isGivenUp)
            reply.TryAbandon(GivenUp);
        Connection!.Submit(reply);

        // The lease disposes the registration itself, because an async method here would allocate for every article.
        _registration.Dispose();
        _registration = cancellationToken.UnsafeRegister(static (lease, token) => ((ConnectionLease)lease!).Withdraw(token), this);
        return reply.Outcome;
    }

    /// <summary>Returns the held command slot, if any.</summary>
    public void Dispose()
    {
        _registration.Dispose();
        if (!IsHeld)
            return;
        IsHeld = false;
        if (_reply is null)
            _pool!.EndCommand(Connection!, Request);
        else if (_reply.IsAbandoned)
            Abandon();
    }

    private static CancellationToken GivenUp => new(canceled: true);

    private void Withdraw(CancellationToken cancelled)
    {
        Interlocked.Exchange(ref _isGivenUp, true);
        Volatile.Read(ref _pool)?.Withdraw(this, cancelled);
        Volatile.Read(ref _reply)?.TryAbandon(cancelled);
    }

    private void Abandon()
    {
        Load!.Abandon();
        if (!(fetch?.IsBeaten(attempt) == true && Connection!.TryGiveUp()))
            Connection!.Reconsider();

        // A fetch that waits for this connection may now get a better one.
        _pool!.Pump();
    }
}
