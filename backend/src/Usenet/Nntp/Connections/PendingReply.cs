using System.Buffers;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>The input that a pending reply needs next.</summary>
internal enum ReplyStep
{
    /// <summary>The reply is complete and needs no more input.</summary>
    End,

    /// <summary>The status line that answers the reply's next command.</summary>
    Line,

    /// <summary>A body up to its terminating line.</summary>
    Body,
}

/// <summary>The outcome of one command at one provider. All deliveries share one instance.</summary>
/// <param name="MissCode">430, 423 or 451 if the provider does not have the article; 0 if the article or all replies arrived.</param>
/// <param name="Proof">Reports whether the misses are real; null if there are none, or if they are already confirmed.</param>
internal sealed record ReplyOutcome(int MissCode, StepProof? Proof = null)
{
    public static ReplyOutcome Delivered { get; } = new(0);

    public bool IsMiss => MissCode != 0;
}

/// <summary>
/// Whether a miss is real. A miss need not name its article, so it could answer another command. The miss is confirmed once all commands outstanding at its
/// arrival have been answered in order, and refuted if the connection ends before that.
/// </summary>
/// <remarks>Thread-safe. The connection calls <see cref="Settle"/> once.</remarks>
/// <param name="id">The missing article; empty for several articles.</param>
/// <param name="until">The miss is confirmed once this many replies of the connection are complete.</param>
internal sealed class StepProof(MessageId id, long until)
{
    private readonly TaskCompletionSource _settled = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile bool _isProved;

    public MessageId Id => id;

    public long Until => until;

    /// <summary>Completes when the miss is confirmed or refuted; never fails.</summary>
    public Task Settled => _settled.Task;

    public bool IsProved => _settled.Task.IsCompleted && _isProved;

    public bool IsRefuted => _settled.Task.IsCompleted && !_isProved;

    public void Settle(bool isProved)
    {
        _isProved = isProved;
        _settled.SetResult();
    }
}

/// <summary>
/// The commands that one lease sends, and their reply: one command, or several with single-line replies. The read loop feeds the reply, the fetch awaits it,
/// and any thread may abandon it. <see cref="Gate"/> orders the three, so that nothing borrowed from the fetch is used after the fetch ends.
/// </summary>
internal abstract class PendingReply(Lock? gate = null) : Completion<ReplyOutcome>
{
    private bool _completed;

    public abstract ref readonly ArticleRequest Request { get; }

    /// <summary>The account or lane under which the reply's bytes are counted.</summary>
    public virtual Payer Payer => Payer.Of(Request);

    /// <summary>Completes with the reply, or when the reply is abandoned.</summary>
    /// <exception cref="NntpException">The reply did not arrive completely.</exception>
    /// <exception cref="OperationCanceledException">The reply was abandoned.</exception>
    public ValueTask<ReplyOutcome> Outcome => new(this, Version);

    public abstract int Commands { get; }

    public abstract int Unanswered { get; }

    /// <summary>Estimated bytes still to come; at least 1 until the end has arrived.</summary>
    public abstract long Remaining { get; }

    /// <summary>Minimum bytes still to come of the current body; 0 if unknown, or if every byte is urgent. Read loop only.</summary>
    public virtual long StillToCome => 0;

    /// <summary>Body bytes received so far; 0 if there is no body. Written by the read loop only.</summary>
    public long Received { get; protected set; }

    /// <summary>When the body began, in ticks of the time provider; 0 if it has not begun. Read loop only.</summary>
    public long BodyStartedAt { get; protected set; }

    public bool IsAbandoned { get; private set; }

    public virtual bool IsWanted => !IsAbandoned;

    /// <summary>When the commands were sent, in ticks of the time provider; 0 if they were not sent yet.</summary>
    public long SentAt { get; set; }

    public bool WasPipelined => Commands > 1 || SentBehindOthers;

    public bool SentBehindOthers { get; set; }

    /// <summary>Whether the fetch may continue in the read loop after a good reply. It must then be quick, because the next replies wait.</summary>
    protected virtual bool ContinuesInline => false;

    protected Lock Gate { get; } = gate ?? new Lock();

    public abstract void WriteCommands(IBufferWriter<byte> output);

    /// <summary>Processes a reply line. <paramref name="response"/> is lent for the call; <paramref name="now"/> is in ticks of the time provider.</summary>
    /// <exception cref="NntpException">The line cannot answer the next command: replies are out of order, or the server refuses the command.</exception>
    public abstract ReplyStep Take(in NntpResponse response, long now);

    /// <summary>Processes the next bytes of the body that <see cref="ReplyStep.Body"/> announced.</summary>
    /// <returns>True if the body ends after <paramref name="consumed"/> bytes.</returns>
    public virtual bool Write(ReadOnlySpan<byte> raw, out int consumed) =>
        throw new InvalidOperationException("The reply has no body.");

    /// <summary>Called by the clock when the reply is late and so delays the replies behind it.</summary>
    public virtual Lateness OnLate() => Lateness.Tolerated;

    /// <summary>Moves the fetch elsewhere if possible, which abandons this reply.</summary>
    /// <param name="isPaid">Whether the hedge budget has already been charged.</param>
    public virtual void SendElsewhere(bool isPaid)
    {
    }

    public abstract void Measure(LineEstimate line);

    /// <summary>Closes a complete reply before <see cref="Complete"/>; false if the reply was abandoned.</summary>
    public bool TryClose() => TryEnd(abandons: false);

    /// <summary>Completes the fetch of a closed reply. The connection must not touch the reply afterwards.</summary>
    public void Complete(ReplyOutcome outcome) => End(outcome, ContinuesInline);

    /// <summary>Fails the fetch because no reply will arrive. The connection must not touch the reply afterwards.</summary>
    public void Fail(NntpException failure)
    {
        if (TryEnd(abandons: false))
            End(failure);
    }

    /// <summary>Ends the fetch early; false if the reply has already ended. When this returns, nothing borrowed from the fetch is in use.</summary>
    public bool TryAbandon(Exception reason)
    {
        if (!TryEnd(abandons: true))
            return false;
        End(reason);
        return true;
    }

    public bool TryAbandon(CancellationToken cancelled) => TryAbandon(new OperationCanceledException(cancelled));

    /// <summary>Releases the objects borrowed from the fetch. Called once, under <see cref="Gate"/>.</summary>
    protected virtual void LetGo()
    {
    }

    /// <summary>Checks that a 222 or 223 names the requested article (RFC 3977 sections 6.2.3.2 and 6.2.4.2).</summary>
    protected static void CheckEcho(in NntpResponse response, MessageId id)
    {
        switch (NntpResponseReader.Names(response, id.Bytes))
        {
            case null:
                throw new NntpException(NntpFault.MalformedReply, "The server answered without naming the article.") { Detail = Shown(response) };
            case false:
                throw new NntpException(NntpFault.WrongArticle, "The server answered with another article than the one asked for.");
        }
    }

    /// <summary>Checks that a line reports a miss. A miss need not name its article (RFC 3977 section 6.2.3.2), but must not name another.</summary>
    protected static void CheckMiss(in NntpResponse response, MessageId id)
    {
        if (!NntpResponseCode.IsMiss(response.Code))
            throw Refused(response);
        if (NntpResponseReader.NamesAnother(response, id.Bytes))
            throw new NntpException(NntpFault.WrongArticle, "The server said that it does not have another article than the one asked for.");
    }

    private static NntpException Refused(in NntpResponse response) => response.SaysTooManyConnections()
        ? new(NntpFault.TooManyConnections, $"The server allows no more connections: {Shown(response)}") { Detail = Shown(response) }
        : new(NntpFault.UnexpectedCode, $"The server refused a command: {Shown(response)}") { Detail = Shown(response) };

    private static string Shown(in NntpResponse response) => $"{response.Code} {response.PrintableText()}";

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

/// <summary>The pending reply to a DATE (RFC 3977 section 7.1), which keeps an idle connection open.</summary>
/// <remarks>No fetch waits for it. If the server has closed the connection meanwhile, the missing reply reveals that.</remarks>
internal sealed class KeepAlive : PendingReply
{
    private const int TypicalLine = 20;

    private readonly ArticleRequest _request = new(default, OperationLane.Playback);
    private bool _answered;

    public override ref readonly ArticleRequest Request => ref _request;

    public override int Commands => 1;

    public override int Unanswered => _answered ? 0 : 1;

    public override Payer Payer => Payer.Other;

    public override bool IsWanted => false;

    public override long Remaining => TypicalLine;

    public override void WriteCommands(IBufferWriter<byte> output) => NntpCommandWriter.WriteDate(output);

    // A server that does not know DATE is still alive. A reply about an article would belong to another command, however.
    public override ReplyStep Take(in NntpResponse response, long now)
    {
        if (response.Code is NntpResponseCode.Body or NntpResponseCode.ArticleExists || NntpResponseCode.IsMiss(response.Code))
            throw new NntpException(NntpFault.MalformedReply, "The server answered a command with the reply to another.");
        _answered = true;
        return ReplyStep.End;
    }

    // Commands behind a late keep-alive have to wait for it, so the fetches behind it move.
    public override Lateness OnLate() => Lateness.Raced;

    public override void Measure(LineEstimate line)
    {
    }
}
