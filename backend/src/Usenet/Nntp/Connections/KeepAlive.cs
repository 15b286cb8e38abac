using System.Buffers;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// The pending reply to a DATE (RFC 3977 section 7.1) that keeps an idle connection from being closed. No fetch waits for it; a
/// server that has closed the connection in the meantime shows itself by not answering.
/// </summary>
internal sealed class KeepAlive() : PendingReply(new ArticleRequest(default, OperationLane.Playback))
{
    private const int TypicalLine = 20;

    private bool _answered;

    public override int Commands => 1;

    public override int Unanswered => _answered ? 0 : 1;

    public override bool IsWanted => false;

    public override long Remaining => TypicalLine;

    public override void WriteCommands(IBufferWriter<byte> output) => NntpCommandWriter.WriteDate(output);

    // Some servers do not know the command, and are awake all the same; but an answer about an article belongs to another command.
    public override ReplyStep Take(in NntpResponse response, long now)
    {
        if (response.Code is NntpResponseCode.Body or NntpResponseCode.ArticleExists || NntpResponseCode.IsMiss(response.Code))
            throw ReplyFaults.OutOfStep();
        _answered = true;
        return ReplyStep.End;
    }

    // What is behind it cannot be asked for in here any sooner.
    public override Lateness BeLate() => Lateness.Raced;

    public override void Measure(LineEstimate line)
    {
    }
}
