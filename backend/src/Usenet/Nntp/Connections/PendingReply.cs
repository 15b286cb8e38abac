using System.Buffers;
using System.Threading.Tasks.Sources;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// What one lease sends and what comes back for it: one command, or several whose answers are single lines. Given its lines
/// and bytes by the read loop of its connection, awaited by the fetch, and let go by whoever gives the fetch up; the gate
/// orders these three, so that nothing the fetch has lent is touched after the fetch has ended.
/// </summary>
internal abstract class PendingReply : IValueTaskSource<ReplyOutcome>
{
    private ManualResetValueTaskSourceCore<ReplyOutcome> _completion;
    private bool _completed;

    /// <param name="request">What it is for.</param>
    /// <param name="gate">The lock of the fetch that it belongs to; null for one of its own.</param>
    protected PendingReply(ArticleRequest request, Lock? gate = null) => (Request, Gate) = (request, gate ?? new Lock());

    public ArticleRequest Request { get; private set; }

    /// <summary>Commands that go out together.</summary>
    public abstract int Commands { get; }

    /// <summary>Commands among them that have not been answered to the end.</summary>
    public abstract int Unanswered { get; }

    /// <summary>Bytes still to come, as far as they can be foreseen; at least 1 while the end has not been seen.</summary>
    public abstract long Remaining { get; }

    /// <summary>Bytes of a body seen so far; 0 where there is none. Written by the read loop only.</summary>
    public long Received { get; protected set; }

    /// <summary>When a body began, in ticks of the time provider; 0 before, and where there is none. Read loop only.</summary>
    public long BodyStartedAt { get; protected set; }

    /// <summary>Whether the fetch has ended while the reply is still to come or under way.</summary>
    public bool IsAbandoned { get; private set; }

    /// <summary>Whether anything waits for it.</summary>
    public virtual bool IsWanted => !IsAbandoned;

    /// <summary>When the commands went out, in ticks of the time provider; 0 before.</summary>
    public long SentAt { get; set; }

    /// <summary>When the commands went out on an otherwise idle connection, so that the first answer measures the round trip; else 0.</summary>
    public long SentOnIdleAt { get; set; }

    /// <summary>When the lease was given, in ticks of the time provider; 0 where there was none.</summary>
    public long LeasedAt { get; set; }

    /// <summary>Encoded bytes that the provider owed on all its connections by then, those of this reply included.</summary>
    public long OutstandingAtLease { get; set; }

    /// <summary>Whether its commands were sent while others were outstanding, or several at once.</summary>
    public bool WasPipelined => Commands > 1 || SentBehindOthers;

    /// <summary>Whether its commands were sent while others were outstanding.</summary>
    public bool SentBehindOthers { get; set; }

    public ValueTask<ReplyOutcome> Outcome => new(this, _completion.Version);

    /// <summary>
    /// Whether the fetch may go on in the read loop once its reply has come to a good end: only where what follows is short, because
    /// the replies behind this one are held up by it.
    /// </summary>
    protected virtual bool ContinuesInline => false;

    protected Lock Gate { get; }

    public abstract void WriteCommands(IBufferWriter<byte> output);

    /// <summary>Takes a reply line.</summary>
    /// <param name="response">Lent.</param>
    /// <param name="now">In ticks of the time provider.</param>
    /// <exception cref="NntpException">The line fits none of the commands: the connection is out of step, or refuses them.</exception>
    public abstract ReplyStep Take(in NntpResponse response, long now);

    /// <summary>Takes the next stretch of the body that <see cref="ReplyStep.Body"/> has announced.</summary>
    /// <returns>True when it ends in it, after <paramref name="consumed"/> bytes.</returns>
    public virtual bool Write(ReadOnlySpan<byte> raw, out int consumed) =>
        throw new InvalidOperationException("The reply has no body.");

    /// <summary>By the clock of the connection: the reply is late, and holds up those behind it.</summary>
    public virtual Lateness BeLate() => Lateness.Borne;

    /// <summary>Has the fetch ask elsewhere, where it can and may; what comes here is not wanted any more then.</summary>
    /// <param name="isPaid">Whether it has leave to do so already.</param>
    public virtual void SendElsewhere(bool isPaid)
    {
    }

    /// <summary>The reply has ended: says what it has shown about the line.</summary>
    public abstract void Measure(LineEstimate line);

    /// <summary>The reply has come to its end, and cannot be given up any more; <see cref="Complete"/> follows.</summary>
    /// <returns>False when it was given up before.</returns>
    public bool TryClose() => TryEnd(abandons: false);

    /// <summary>Ends the fetch of a closed reply with what the lines have said. The connection does not touch the reply any more.</summary>
    public void Complete(ReplyOutcome outcome)
    {
        _completion.RunContinuationsAsynchronously = !ContinuesInline;
        _completion.SetResult(outcome);
    }

    /// <summary>Ends the fetch because there will be no reply. The connection does not touch it any more.</summary>
    public void Fail(Exception error)
    {
        if (TryEnd(abandons: false))
            SetException(error);
    }

    /// <summary>Ends the fetch from outside; what it has lent is free when this returns.</summary>
    /// <returns>False when the reply has ended before.</returns>
    public bool TryAbandon(CancellationToken cancellationToken)
    {
        if (!TryEnd(abandons: true))
            return false;
        SetException(new OperationCanceledException(cancellationToken));
        return true;
    }

    /// <summary>Ends the fetch while the reply is still to come. Nothing happens when the reply has ended before.</summary>
    protected void Abandon(NntpException reason)
    {
        if (TryEnd(abandons: true))
            SetException(reason);
    }

    ReplyOutcome IValueTaskSource<ReplyOutcome>.GetResult(short token) => _completion.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<ReplyOutcome>.GetStatus(short token) => _completion.GetStatus(token);

    void IValueTaskSource<ReplyOutcome>.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _completion.OnCompleted(continuation, state, token, flags);

    /// <summary>Makes a reply that has ended, and was not abandoned, fit for another command.</summary>
    protected void Restart(in ArticleRequest request)
    {
        _completion.Reset();
        (Request, Received, BodyStartedAt, SentAt, SentOnIdleAt) = (request, 0, 0, 0, 0);
        _completed = SentBehindOthers = false;
    }

    /// <summary>Forgets what the fetch has lent. Called once, under the gate.</summary>
    protected virtual void LetGo()
    {
    }

    // Whoever breaks off holds locks, or has others to tell.
    private void SetException(Exception error)
    {
        _completion.RunContinuationsAsynchronously = true;
        _completion.SetException(error);
    }

    private bool TryEnd(bool abandons)
    {
        lock (Gate)
        {
            if (_completed)
                return false;
            IsAbandoned = abandons;
            _completed = true;
            LetGo();
            return true;
        }
    }
}
