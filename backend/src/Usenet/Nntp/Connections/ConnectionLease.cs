namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// The right to send one command, or one batch, on a connection and to receive its reply. It first waits in the queue of a pool and is then
/// held. Disposing it decides what happens to the connection if the reply was abandoned.
/// </summary>
/// <remarks>
/// For one use by one owner, who may raise it or give it up on any thread. The end of the wait is decided once, under the lock of the pool,
/// and reported outside of it.
/// </remarks>
internal sealed class ConnectionLease(in ArticleRequest request, IPendingFetch? fetch = null, int attempt = 0) : Completion<bool>, IDisposable
{
    // Cost of STAT and other commands without a body in a queue that shares by bytes.
    private const long SmallestCost = 512;

    private readonly ArticleRequest _request = request;

    // Null until the owner requests a connection.
    private NntpConnectionPool? _pool;

    private NntpConnection? _connection;
    private Exception? _refusal;
    private bool _isHeld;
    private long _askedAt;

    // The owner sets _pool and _reply before it checks for a raise or give-up. A thread that raises or gives up reads them afterwards, so
    // at least one of the two sees the other.
    private PendingReply? _reply;
    private bool _isGivenUp;

    // Of the wait first, then of the reply.
    private CancellationTokenRegistration _registration;

    public ref readonly ArticleRequest Request => ref _request;

    public IPendingFetch? Fetch => fetch;

    /// <summary>The attempt of the fetch that uses this lease.</summary>
    public int Attempt => attempt;

    public NntpConnection? Connection => _connection;

    /// <summary>When it was granted, in ticks of the time provider; 0 before.</summary>
    public long GrantedAt { get; private set; }

    /// <summary>Encoded bytes that the provider owed on all connections at the grant, including this command.</summary>
    public long OutstandingAtGrant { get; private set; }

    /// <summary>How long the bandwidth limit suspended the wait, in the same ticks; meaningless while it waits.</summary>
    public long PacedFor { get; private set; }

    /// <summary>Bytes that it costs its party in a fair queue.</summary>
    public long Cost => Math.Max(_request.ExpectedBytes, SmallestCost);

    // The pool's state of the wait, used under its lock only.

    /// <summary>The class in which it waits; null if it does not wait.</summary>
    public LeaseClass? Class { get; set; }

    public ConnectionLease? Before { get; set; }

    /// <summary>The next lease in its queue, or in the list of ended waits that are not yet reported.</summary>
    public ConnectionLease? Next { get; set; }

    /// <summary>When the wait expires, on the clock of the waits, in ticks of the time provider.</summary>
    public long Deadline { get; private set; }

    /// <summary>When its fetch learns that the wait is long, on the same clock.</summary>
    public long LateAt { get; set; } = long.MaxValue;

    /// <summary>Called by the pool, under no lock, when the owner requests a connection.</summary>
    public void Begin(NntpConnectionPool pool) => Interlocked.Exchange(ref _pool, pool);

    /// <summary>Called by the pool, under its lock, when the wait begins. <paramref name="paced"/> ticks of waits were suspended before.</summary>
    public void Wait(long now, long paced, long deadline) => (_askedAt, PacedFor, Deadline) = (now, paced, deadline);

    /// <summary>Called by the pool, under its lock, when a connection takes the command. <paramref name="paced"/> is 0 without a wait.</summary>
    public void Grant(NntpConnection connection, long now, long outstanding, long paced = 0) =>
        (_connection, _isHeld, GrantedAt, OutstandingAtGrant, PacedFor) = (connection, true, now, outstanding, paced - PacedFor);

    public void Refuse(NntpException failure) => _refusal = failure;

    public void Refuse(CancellationToken cancelled) => _refusal = new OperationCanceledException(cancelled);

    /// <summary>Called by the pool, outside its lock, to report the end of the wait.</summary>
    /// <param name="inline">Whether the fetch may send its command in this call. A refusal never does, because it may do more work.</param>
    public void Settle(bool inline)
    {
        _pool!.Shared.Meter.Waited(_askedAt);
        if (_isHeld)
            End(true, inline);
        else
            End(_refusal!);
    }

    /// <summary>Called by the pool: waits until <see cref="Settle"/> reports the outcome.</summary>
    /// <exception cref="NntpException">Nothing became free in time, or the provider cannot be reached.</exception>
    /// <exception cref="OperationCanceledException">The token was canceled, or the lease given up.</exception>
    public ValueTask WaitAsync(CancellationToken cancellationToken)
    {
        _registration = cancellationToken.UnsafeRegister(static (lease, token) => ((ConnectionLease)lease!).Withdraw(token), this);
        if (_isGivenUp)
            _pool!.Withdraw(this, GivenUp);
        return new ValueTask(this, Version);
    }

    /// <summary>Moves the wait ahead of prefetches, because a reader now waits for the article.</summary>
    public void Raise() => Volatile.Read(ref _pool)?.Raise(this);

    /// <summary>
    /// Ends the wait or the reply with an <see cref="OperationCanceledException"/>, or prevents its start. Does nothing once the reply ended.
    /// </summary>
    public void GiveUp() => Withdraw(GivenUp);

    /// <summary>Sends BODY and waits for the end of its reply. The fetch takes the body.</summary>
    public ValueTask<ReplyOutcome> FetchAsync(CancellationToken cancellationToken) => AskAsync(new ArticleBody(this), cancellationToken);

    /// <summary>The same without a fetch. <paramref name="provider"/> is the provider's index for the sink.</summary>
    public ValueTask<ReplyOutcome> FetchAsync(IArticleSink sink, int provider, CancellationToken cancellationToken = default) =>
        AskAsync(new ArticleBody(this, sink, provider), cancellationToken);

    /// <summary>Sends the commands and waits for the end of their reply. Called at most once.</summary>
    /// <exception cref="NntpException">The reply did not arrive completely.</exception>
    /// <exception cref="OperationCanceledException">The token was canceled, or the lease given up.</exception>
    public ValueTask<ReplyOutcome> AskAsync(PendingReply reply, CancellationToken cancellationToken = default)
    {
        Interlocked.Exchange(ref _reply, reply);
        if (_isGivenUp)
            reply.TryAbandon(GivenUp);
        _connection!.Submit(reply);

        // The registration ends with the lease, because an async method here would allocate for every article.
        _registration.Dispose();
        _registration = cancellationToken.UnsafeRegister(static (lease, token) => ((ConnectionLease)lease!).Withdraw(token), this);
        return reply.Outcome;
    }

    /// <summary>Returns the held command slot, if any.</summary>
    public void Dispose()
    {
        _registration.Dispose();
        if (!_isHeld)
            return;
        _isHeld = false;
        if (_reply is null)
            _pool!.EndCommand(_connection!, _request);
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
        _connection!.Load.Abandon();
        if (!(fetch?.IsBeaten(attempt) == true && _connection.TryGiveUp()))
            _connection.Reconsider();

        // A fetch that waits for this connection may now be better served by another one.
        _pool!.Pump();
    }
}
