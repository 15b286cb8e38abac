using System.Threading.Tasks.Sources;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// The right to one command on a connection and its reply, or to a batch of commands that leave together: waited for in the queue
/// of a pool, then held. Disposing it is the one place that decides what becomes of a connection whose reply is not wanted any
/// more.
/// </summary>
/// <remarks>
/// One owner, who asks for it again only after he has disposed it. How the wait ends is decided once, under the lock of the pool,
/// and told outside of it.
/// </remarks>
internal sealed class ConnectionLease : IValueTaskSource, IDisposable
{
    // What STAT and other commands without a body cost in a queue that shares by bytes.
    private const long SmallestCost = 512;

    private ManualResetValueTaskSourceCore<bool> _wait;
    private NntpConnectionPool? _pool;
    private NntpMeter? _meter;
    private NntpConnection? _connection;
    private NntpException? _failure;
    private CancellationToken _cancelled;
    private volatile bool _isGivenUp;
    private bool _isHeld;
    private long _askedAt;
    private long _grantedAt;
    private long _outstanding;

    // Of the wait, and then of the reply.
    private CancellationTokenRegistration _registration;
    private PendingReply? _reply;

    // Serves one reply after the other; an abandoned one stays with its connection.
    private ArticleBody? _body;

    /// <param name="fetch">Is told when the wait is long, and when the reply is late; null: nobody is.</param>
    public ConnectionLease(IPendingFetch? fetch = null) => (Fetch, Place) = (fetch, new LinkedListNode<ConnectionLease>(this));

    /// <summary>Who asks; null for what is late without consequence.</summary>
    public IPendingFetch? Fetch { get; }

    /// <summary>What is asked for.</summary>
    public ArticleRequest Request { get; set; }

    /// <summary>The connection that it was given for last; null while it was given for none.</summary>
    public NntpConnection? Connection => _connection;

    /// <summary>Bytes that serving it is worth.</summary>
    public long Cost => Math.Max(Request.ExpectedBytes, SmallestCost);

    /// <summary>Where it waits; in no list while it does not. Guarded by the lock of the pool.</summary>
    public LinkedListNode<ConnectionLease> Place { get; }

    /// <summary>Until when it waits, in ticks of the time provider.</summary>
    public long Deadline { get; private set; }

    /// <summary>When its fetch is told that the wait is long, in ticks of the time provider. Guarded by the lock of the pool.</summary>
    public long LateAt { get; private set; }

    /// <summary>When something is to be done about the wait: the earlier of both.</summary>
    public long DueAt => Math.Min(Deadline, LateAt);

    /// <summary>The next of those whose wait has ended and who have not been told. Guarded by the lock of the pool.</summary>
    public ConnectionLease? NextSettled { get; set; }

    /// <summary>By the pool: it is asked for, from now on.</summary>
    public void Begin(NntpConnectionPool pool, NntpMeter meter, in ArticleRequest request, long now, long deadline)
    {
        _wait.Reset();
        (_pool, _meter, Request, _askedAt, Deadline) = (pool, meter, request, now, deadline);
        (_connection, _failure, _cancelled, _reply, LateAt) = (null, null, default, null, long.MaxValue);
    }

    /// <summary>By the pool, under its lock: a reader waits for the article, so that its fetch is told when the wait is long.</summary>
    /// <param name="lateAt">In ticks of the time provider.</param>
    public void Watch(long lateAt)
    {
        if (Fetch is not null && Request.Urgency?.IsHeadOfLine == true)
            LateAt = lateAt;
    }

    /// <summary>By the pool, under its lock: a connection takes the command.</summary>
    /// <param name="connection">The one.</param>
    /// <param name="now">In ticks of the time provider.</param>
    /// <param name="outstanding">Encoded bytes that the provider owes on all its connections, those of this command included.</param>
    public void Grant(NntpConnection connection, long now, long outstanding) =>
        (_connection, _isHeld, _grantedAt, _outstanding) = (connection, true, now, outstanding);

    /// <summary>By the pool, under its lock: there will be none.</summary>
    public void Refuse(NntpException failure) => _failure = failure;

    /// <summary>By the pool, under its lock: nobody wants it any more.</summary>
    public void GiveUp(CancellationToken cancelled) => _cancelled = cancelled;

    /// <summary>By the pool, outside of its lock: tells whoever waits how the wait has ended.</summary>
    /// <param name="inline">Whether the fetch may go on here, which sends a command; a refusal may have more in its train.</param>
    public void Settle(bool inline)
    {
        _wait.RunContinuationsAsynchronously = !(inline && _isHeld);
        if (_isHeld)
            _wait.SetResult(true);
        else if (_failure is not null)
            _wait.SetException(_failure);
        else
            _wait.SetException(new OperationCanceledException(_cancelled));
    }

    /// <summary>Waits for what <see cref="Settle"/> tells.</summary>
    /// <exception cref="NntpException">Nothing became free in time, or the provider cannot be reached.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    public ValueTask WaitAsync(CancellationToken cancellationToken)
    {
        _registration = cancellationToken.UnsafeRegister(static (state, token) => ((ConnectionLease)state!).Withdraw(token), this);
        if (_isGivenUp)
            Withdraw(new CancellationToken(canceled: true));
        return new ValueTask(this, _wait.Version);
    }

    /// <summary>A reader has come to wait for the article: it goes first, if it waits still.</summary>
    public void Raise() => _pool?.Raise(this);

    /// <summary>
    /// By its fetch, on any thread: ends the wait or the reply with an <see cref="OperationCanceledException"/>, or keeps both from
    /// beginning. Nothing happens when both have ended.
    /// </summary>
    public void GiveUp()
    {
        // The owner looks at this only after it has begun to wait: either it sees this, or there is a wait to end in here.
        _isGivenUp = true;
        Interlocked.MemoryBarrier();
        var cancelled = new CancellationToken(canceled: true);
        Withdraw(cancelled);
        Volatile.Read(ref _reply)?.TryAbandon(cancelled);
    }

    /// <summary>Sends BODY and waits for the end of its reply.</summary>
    /// <param name="sink">Takes the body.</param>
    /// <param name="provider">What the sink knows the provider by.</param>
    /// <param name="cancellationToken">Gives the reply up.</param>
    public ValueTask<ReplyOutcome> FetchAsync(IArticleSink sink, int provider, CancellationToken cancellationToken)
    {
        _body ??= new ArticleBody(Fetch);
        _body.Begin(Request, sink, provider);
        return AskAsync(_body, cancellationToken);
    }

    /// <summary>Sends the commands and waits for the end of their reply. Called at most once.</summary>
    public ValueTask<ReplyOutcome> AskAsync(PendingReply reply, CancellationToken cancellationToken)
    {
        _reply = reply;
        (reply.LeasedAt, reply.OutstandingAtLease) = (_grantedAt, _outstanding);
        var outcome = reply.Outcome;
        Interlocked.MemoryBarrier();
        if (_isGivenUp)
            reply.TryAbandon(new CancellationToken(canceled: true));
        _connection!.Submit(reply);

        // Ends with the lease: a method that waited for the reply would cost an object per article.
        _registration = cancellationToken.UnsafeRegister(static (state, token) => ((PendingReply)state!).TryAbandon(token), reply);
        return outcome;
    }

    /// <summary>Gives back what is held; nothing happens when nothing is.</summary>
    public void Dispose()
    {
        _registration.Dispose();
        if (!_isHeld)
            return;
        _isHeld = false;
        if (_reply is null)
        {
            _pool!.EndCommand(_connection!, Request);
            return;
        }

        if (_reply.IsAbandoned)
            Abandon();
    }

    void IValueTaskSource.GetResult(short token)
    {
        _registration.Dispose();
        _meter!.Waited(_askedAt);
        _wait.GetResult(token);
    }

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _wait.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _wait.OnCompleted(continuation, state, token, flags);

    private void Abandon()
    {
        _body = null;
        _connection!.Load.Abandon();
        if (!(Fetch?.IsBeaten == true && _connection.TryGiveUp()))
            _connection.Reconsider();
        // Whoever waits for this connection may be better off with another one now.
        _pool!.Pump();
    }

    private void Withdraw(CancellationToken token) => _pool?.Withdraw(this, token);
}
