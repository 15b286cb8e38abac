using System.Buffers;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// The pending replies to STAT commands that leave together (RFC 3977 section 6.2.4): one line each, in the order of the
/// commands. The walk that sent them reads the answers once the reply has ended, well or badly.
/// </summary>
internal sealed class StatBatch : PendingReply
{
    // "223 0 <id>" and a line end; what is asked for is a little longer than what comes.
    private const int TypicalLine = 60;

    private readonly ArticleRequest _request;
    private readonly ReadOnlyMemory<MessageId> _ids;
    private readonly int[] _codes;
    private int _answered;
    private long _firstAt;

    /// <param name="ids">At least one, none empty; must not change while the reply is pending.</param>
    /// <param name="lane">Why it is asked.</param>
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

    /// <summary>Whether any of the articles is missing.</summary>
    public bool HasMisses { get; private set; }

    /// <summary>
    /// The reply code for each id, 0 where none is believed. A 223 proves itself by naming its article; a miss names none, so it
    /// counts only once every answer that was outstanding with it has come in its order.
    /// </summary>
    /// <param name="index">Of the id.</param>
    /// <param name="isInStep">Whether they have.</param>
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
