namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// The right to one command on a connection and its reply, or to a batch of commands that leave together: waited for in the queue of a
/// pool, then held. Disposing it is the one place that decides what becomes of a connection whose reply is not wanted any more.
/// </summary>
/// <remarks>
/// Serves once, and has one owner, who may raise it and give it up on any thread. How the wait ends is decided once, under the lock of the
/// pool, and told outside of it.
/// </remarks>
/// <param name="request">The request that the command will serve.</param>
/// <param name="fetch">Is told when the wait is long, and when the reply is late; null where lateness is borne.</param>
internal sealed class ConnectionLease(in ArticleRequest request, IPendingFetch? fetch = null) : Completion<bool>, IDisposable
{
    // What STAT and other commands without a body cost in a queue that shares by bytes.
    private const long SmallestCost = 512;

    private readonly ArticleRequest _request = request;

    // Null until it is asked for.
    private NntpConnectionPool? _pool;

    private NntpConnection? _connection;
    private Exception? _refusal;
    private bool _isHeld;
    private long _askedAt;

    // The owner sets pool and reply before it looks whether the lease is given up or raised, and a thread that does so looks at them
    // afterwards: one of both sees the other.
    private PendingReply? _reply;
    private bool _isGivenUp;

    // Of the wait, and then of the reply.
    private CancellationTokenRegistration _registration;

    /// <summary>The request that the command will serve.</summary>
    public ref readonly ArticleRequest Request => ref _request;

    /// <summary>The fetch that asks; null where lateness is borne.</summary>
    public IPendingFetch? Fetch => fetch;

    /// <summary>The connection that it was given for; null before.</summary>
    public NntpConnection? Connection => _connection;

    /// <summary>When it was given, in ticks of the time provider; 0 before.</summary>
    public long GrantedAt { get; private set; }

    /// <summary>Encoded bytes that the provider owed on all its connections by then, those of this command included.</summary>
    public long OutstandingAtGrant { get; private set; }

    /// <summary>How long the wait has stood still because of the limit of bandwidth, in the same ticks; meaningless while it waits.</summary>
    public long PacedFor { get; private set; }

    /// <summary>Bytes that serving it is worth.</summary>
    public long Cost => Math.Max(_request.ExpectedBytes, SmallestCost);

    // What follows is the pool's note of the wait, used under its lock alone.

    /// <summary>The class in which it waits; null while it does not wait.</summary>
    public LeaseClass? Class { get; set; }

    /// <summary>The lease before it in its queue.</summary>
    public ConnectionLease? Before { get; set; }

    /// <summary>The lease behind it there, or among those whose wait has ended and whose owners have not been told.</summary>
    public ConnectionLease? Next { get; set; }

    /// <summary>Until when it waits, by the time of the waits, in ticks of the time provider.</summary>
    public long Deadline { get; private set; }

    /// <summary>When its fetch is told that the wait is long, likewise.</summary>
    public long LateAt { get; set; } = long.MaxValue;

    /// <summary>By the pool, under no lock: its owner asks for a connection.</summary>
    public void Begin(NntpConnectionPool pool) => Interlocked.Exchange(ref _pool, pool);

    /// <summary>By the pool, under its lock: no connection is free, and the wait begins.</summary>
    /// <param name="now">In ticks of the time provider.</param>
    /// <param name="paced">For how long waits have stood still before.</param>
    /// <param name="deadline">Until when, by the time of the waits.</param>
    public void Wait(long now, long paced, long deadline) => (_askedAt, PacedFor, Deadline) = (now, paced, deadline);

    /// <summary>By the pool, under its lock: a connection takes the command.</summary>
    /// <param name="connection">The connection.</param>
    /// <param name="now">In ticks of the time provider.</param>
    /// <param name="outstanding">Encoded bytes that the provider owes on all its connections, those of this command included.</param>
    /// <param name="paced">For how long waits have stood still by now; 0 where there was none.</param>
    public void Grant(NntpConnection connection, long now, long outstanding, long paced = 0) =>
        (_connection, _isHeld, GrantedAt, OutstandingAtGrant, PacedFor) = (connection, true, now, outstanding, paced - PacedFor);

    /// <summary>By the pool, under its lock: the wait ends without a connection.</summary>
    public void Refuse(NntpException failure) => _refusal = failure;

    /// <summary>By the pool, under its lock: the wait ends because its owner has given it up.</summary>
    public void Refuse(CancellationToken cancelled) => _refusal = new OperationCanceledException(cancelled);

    /// <summary>By the pool, outside of its lock: tells the owner how the wait has ended.</summary>
    /// <param name="inline">Whether the fetch may go on in this call, which sends a command; a refusal may have more in its train.</param>
    public void Settle(bool inline)
    {
        _pool!.Shared.Meter.Waited(_askedAt);
        if (_isHeld)
            End(true, inline);
        else
            End(_refusal!);
    }

    /// <summary>By the pool: waits for what <see cref="Settle"/> tells.</summary>
    /// <exception cref="NntpException">Nothing became free in time, or the provider cannot be reached.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled, or the lease given up.</exception>
    public ValueTask WaitAsync(CancellationToken cancellationToken)
    {
        _registration = cancellationToken.UnsafeRegister(static (lease, token) => ((ConnectionLease)lease!).Withdraw(token), this);
        if (_isGivenUp)
            _pool!.Withdraw(this, GivenUp);
        return new ValueTask(this, Version);
    }

    /// <summary>A reader has come to wait for the article: it goes first, if it waits still.</summary>
    public void Raise() => Volatile.Read(ref _pool)?.Raise(this);

    /// <summary>
    /// Ends the wait or the reply with an <see cref="OperationCanceledException"/>, or keeps them from beginning. Nothing happens when the
    /// reply has ended.
    /// </summary>
    public void GiveUp() => Withdraw(GivenUp);

    /// <summary>Sends BODY and waits for the end of its reply.</summary>
    /// <param name="sink">Takes the body.</param>
    /// <param name="provider">What the sink knows the provider by.</param>
    /// <param name="cancellationToken">Gives the reply up.</param>
    public ValueTask<ReplyOutcome> FetchAsync(IArticleSink sink, int provider, CancellationToken cancellationToken = default) =>
        AskAsync(new ArticleBody(this, sink, provider), cancellationToken);

    /// <summary>Sends the commands and waits for the end of their reply. Called at most once.</summary>
    /// <exception cref="NntpException">There was no reply to the end.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled, or the lease given up.</exception>
    public ValueTask<ReplyOutcome> AskAsync(PendingReply reply, CancellationToken cancellationToken = default)
    {
        Interlocked.Exchange(ref _reply, reply);
        if (_isGivenUp)
            reply.TryAbandon(GivenUp);
        _connection!.Submit(reply);

        // Ends with the lease: a method that waited for the reply would cost an object per article.
        _registration.Dispose();
        _registration = cancellationToken.UnsafeRegister(static (lease, token) => ((ConnectionLease)lease!).Withdraw(token), this);
        return reply.Outcome;
    }

    /// <summary>Gives back what is held; nothing happens when nothing is.</summary>
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
        if (!(fetch?.IsBeaten == true && _connection.TryGiveUp()))
            _connection.Reconsider();

        // A fetch that waits for this connection may be better off with another one now.
        _pool!.Pump();
    }
}
