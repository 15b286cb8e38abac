using System.Buffers;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>What has to come next for a pending reply that has been given a line.</summary>
internal enum ReplyStep
{
    /// <summary>Nothing: the reply has ended.</summary>
    End,

    /// <summary>A further line, the answer to the next of its commands.</summary>
    Line,

    /// <summary>A body up to its terminating line.</summary>
    Body,
}

/// <summary>How one command ended at one provider. Made for what was not delivered alone.</summary>
/// <param name="MissCode">430, 423 or 451 when the provider does not have the article; 0 when what was asked for has come.</param>
/// <param name="Proof">Of what was missed; null where nothing was, or nothing was outstanding behind it.</param>
internal sealed record ReplyOutcome(int MissCode, StepProof? Proof = null)
{
    public static ReplyOutcome Delivered { get; } = new(0);

    public bool IsMiss => MissCode != 0;
}

/// <summary>
/// Whether a miss may be believed. It names no article, so that it may be the answer to another command: it is proved once every command
/// that was outstanding when it came has been answered in its order, and refuted when the connection ends before.
/// </summary>
/// <remarks>Thread-safe. Settled once, by the connection.</remarks>
/// <param name="id">What is missed; empty for several articles.</param>
/// <param name="until">Proved once so many replies of the connection have ended.</param>
internal sealed class StepProof(MessageId id, long until)
{
    private readonly TaskCompletionSource _settled = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile bool _isProved;

    public MessageId Id => id;

    public long Until => until;

    /// <summary>Ends when it is proved or refuted; never fails.</summary>
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
/// What one lease sends and what comes back for it: one command, or several whose answers are single lines. The read loop of its
/// connection gives it lines and bytes, the fetch waits for its end, and any thread may give it up; the gate orders these three, so that
/// nothing the fetch has lent is touched after the fetch has ended.
/// </summary>
/// <param name="gate">The lock of the fetch that it belongs to; null for one of its own.</param>
internal abstract class PendingReply(Lock? gate = null) : Completion<ReplyOutcome>
{
    private bool _completed;

    /// <summary>What it is for.</summary>
    public abstract ref readonly ArticleRequest Request { get; }

    /// <summary>Ends with the reply, or when it is given up.</summary>
    /// <exception cref="NntpException">There was no reply to the end.</exception>
    /// <exception cref="OperationCanceledException">It was given up.</exception>
    public ValueTask<ReplyOutcome> Outcome => new(this, Version);

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

    /// <summary>Whether a fetch waits for it.</summary>
    public virtual bool IsWanted => !IsAbandoned;

    /// <summary>When the commands went out, in ticks of the time provider; 0 before.</summary>
    public long SentAt { get; set; }

    /// <summary>Whether its commands were sent while others were outstanding, or several at once.</summary>
    public bool WasPipelined => Commands > 1 || SentBehindOthers;

    /// <summary>Whether its commands were sent while others were outstanding.</summary>
    public bool SentBehindOthers { get; set; }

    /// <summary>
    /// Whether the fetch may go on in the read loop once its reply has come to a good end: only where what follows is short, because
    /// the replies behind this one are held up by it.
    /// </summary>
    protected virtual bool ContinuesInline => false;

    protected Lock Gate { get; } = gate ?? new Lock();

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
    public void Complete(ReplyOutcome outcome) => End(outcome, ContinuesInline);

    /// <summary>Ends the fetch because there will be no reply. The connection does not touch it any more.</summary>
    public void Fail(NntpException failure)
    {
        if (TryEnd(abandons: false))
            End(failure);
    }

    /// <summary>Ends the fetch from outside while the reply is still to come; what it has lent is free when this returns.</summary>
    /// <param name="reason">Why.</param>
    /// <returns>False when the reply has ended before.</returns>
    public bool TryAbandon(Exception reason)
    {
        if (!TryEnd(abandons: true))
            return false;
        End(reason);
        return true;
    }

    /// <inheritdoc cref="TryAbandon(Exception)"/>
    public bool TryAbandon(CancellationToken cancelled) => TryAbandon(new OperationCanceledException(cancelled));

    /// <summary>Forgets what the fetch has lent. Called once, under the gate.</summary>
    protected virtual void LetGo()
    {
    }

    /// <summary>A 222 or 223 has to name the article that was asked for (RFC 3977 sections 6.2.3.2 and 6.2.4.2).</summary>
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

    /// <summary>
    /// A line that does not bring what was asked for has to say that the article is missing. It does not have to name it (RFC 3977 section
    /// 6.2.3.2); where it names one, it has to be the one that was asked for.
    /// </summary>
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

/// <summary>
/// The pending reply to a DATE (RFC 3977 section 7.1) that keeps an idle connection from being closed. No fetch waits for it; a
/// server that has closed the connection in the meantime shows itself by not answering.
/// </summary>
internal sealed class KeepAlive : PendingReply
{
    private const int TypicalLine = 20;

    private readonly ArticleRequest _request = new(default, OperationLane.Playback);
    private bool _answered;

    public override ref readonly ArticleRequest Request => ref _request;

    public override int Commands => 1;

    public override int Unanswered => _answered ? 0 : 1;

    public override bool IsWanted => false;

    public override long Remaining => TypicalLine;

    public override void WriteCommands(IBufferWriter<byte> output) => NntpCommandWriter.WriteDate(output);

    // Some servers do not know the command, and are awake all the same; but an answer about an article belongs to another command.
    public override ReplyStep Take(in NntpResponse response, long now)
    {
        if (response.Code is NntpResponseCode.Body or NntpResponseCode.ArticleExists || NntpResponseCode.IsMiss(response.Code))
            throw new NntpException(NntpFault.MalformedReply, "The server answered a command with the reply to another.");
        _answered = true;
        return ReplyStep.End;
    }

    // What is behind it cannot be asked for in here any sooner.
    public override Lateness BeLate() => Lateness.Raced;

    public override void Measure(LineEstimate line)
    {
    }
}
