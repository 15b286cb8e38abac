using System.Buffers;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// The pending reply to a DATE (RFC 3977 section 7.1) that keeps an idle connection from being closed. Nobody waits for it; a
/// server that has closed the connection in the meantime shows itself by not answering.
/// </summary>
internal sealed class KeepAlive() : PendingReply(new ArticleRequest(default, OperationLane.Playback))
{
    private const int TypicalLine = 20;

    private bool _answered;

    public override int Commands => 1;

    public override int Unanswered => _answered ? 0 : 1;

    public override long Remaining => TypicalLine;

    public override void WriteCommands(IBufferWriter<byte> output) => NntpCommandWriter.WriteDate(output);

    // What it says does not matter; some servers do not know the command, and are awake all the same.
    public override ReplyStep Take(in NntpResponse response, long now)
    {
        _answered = true;
        return ReplyStep.End;
    }

    public override void Measure(LineEstimate line)
    {
    }
}
