using System.Buffers;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>The pending reply to several STAT commands sent together (RFC 3977 section 6.2.4): one line each, in the order of the commands.</summary>
/// <remarks>The sender reads the codes once the reply has ended, successfully or not.</remarks>
internal sealed class StatBatch : PendingReply
{
    // "223 0 <id>" and a line end; the command is a little longer than its reply.
    private const int TypicalLine = 60;
    private readonly ArticleRequest _request;
    private readonly ReadOnlyMemory<MessageId> _ids;
    private readonly int[] _codes;
    private int _answered;
    private long _firstAt;

    // The ids must not change while the reply is pending.
    public StatBatch(ReadOnlyMemory<MessageId> ids, OperationLane lane)
    {
        _request = new ArticleRequest(ids.Span[0], lane, ExpectedBytes: ids.Length * TypicalLine) { Stats = ids.Length };
        _ids = ids;
        _codes = new int[ids.Length];
    }

    public override ref readonly ArticleRequest Request => ref _request;

    public override int Commands => _codes.Length;

    public override int Unanswered => _codes.Length - _answered;

    public override long Remaining => Math.Max(Unanswered * TypicalLine, 1);

    public bool HasMisses { get; private set; }

    /// <summary>The reply code for an id, or 0 if the code cannot be trusted. A 223 is certain, because it names its article.</summary>
    /// <remarks>A miss need not name its article, so it counts only if <paramref name="isInStep"/>: all replies outstanding with it arrived in order.</remarks>
    public int CodeOf(int index, bool isInStep) => _codes[index] == NntpResponseCode.ArticleExists || isInStep ? _codes[index] : 0;

    public override void WriteCommands(IBufferWriter<byte> output)
    {
        foreach (var id in _ids.Span)
            NntpCommandWriter.WriteStat(output, id);
    }

    public override ReplyStep Take(in NntpResponse response, long now)
    {
        if (response.Code == NntpResponseCode.ArticleExists)
            CheckEcho(response, _ids.Span[_answered]);
        else
            CheckMiss(response, _ids.Span[_answered]);

        HasMisses |= response.Code != NntpResponseCode.ArticleExists;
        if (_answered == 0)
            _firstAt = now;
        _codes[_answered++] = response.Code;
        return Unanswered == 0 ? ReplyStep.End : ReplyStep.Line;
    }

    public override void Measure(LineEstimate line) => line.ObserveAnswers(_answered, _firstAt);
}
