using System.Buffers;
using Sluice.Usenet.Nntp.Wire;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>The pending reply to one BODY command (RFC 3977 section 6.2.3).</summary>
/// <param name="lease">Says what is asked for, and which fetch decides what becomes of a late reply and orders its replies by its own lock.</param>
/// <param name="sink">Takes the body until the fetch has ended.</param>
/// <param name="provider">What the sink knows the provider by.</param>
internal sealed class ArticleBody(ConnectionLease lease, IArticleSink sink, int provider) : PendingReply(lease.Fetch?.Gate)
{
    // Guarded by the gate; null once the fetch has ended.
    private IArticleSink? _sink = sink;
    private BodyScanner _scanner = BodyScanner.AtStart;
    private bool _answered;

    /// <summary>Why the provider has no body to send; 0 while it has, or has not answered. Read loop only.</summary>
    public int MissCode { get; private set; }

    /// <summary>Whether a body has come for a fetch that has waited for it all the time, and was not late.</summary>
    public bool WasInTime => MissCode == 0 && !IsAbandoned && Request.Urgency is not { WasLate: true };

    /// <summary>What it answers.</summary>
    public ConnectionLease Lease => lease;

    public override ref readonly ArticleRequest Request => ref lease.Request;

    public override int Commands => 1;

    public override int Unanswered => _answered ? 0 : 1;

    /// <summary>By the size that the request promised.</summary>
    public override long Remaining => Math.Max(Request.ExpectedBytes - Received, 1);

    // The walk to the next provider and the proof of the segment are short; a source whose callers may do more lets go of the loop itself.
    protected override bool ContinuesInline => true;

    public override void WriteCommands(IBufferWriter<byte> output) => NntpCommandWriter.WriteBody(output, Request.Id);

    public override ReplyStep Take(in NntpResponse response, long now)
    {
        if (response.Code == NntpResponseCode.Body)
        {
            CheckEcho(response, Request.Id);
            BodyStartedAt = now;
            lock (Gate)
                _sink?.Start(provider);
            return ReplyStep.Body;
        }

        CheckMiss(response, Request.Id);
        MissCode = response.Code;
        _answered = true;
        return ReplyStep.End;
    }

    /// <summary>Hands the next stretch to the sink, or looks for the end of a body that is not wanted any more.</summary>
    public override bool Write(ReadOnlySpan<byte> raw, out int consumed)
    {
        lock (Gate)
        {
            // The scanner runs beside a decoder too: the sink may be taken away between any two stretches,
            // and only one of both knows where the terminator stands then.
            _answered = _sink is null ? _scanner.Scan(raw, out consumed) : WriteToSink(_sink, raw, out consumed);
            Received += consumed;
            return _answered;
        }
    }

    public override Lateness BeLate()
    {
        // Under the gate, so that the fetch does not go on to another provider before it has decided about this one.
        lock (Gate)
            return _sink is null ? Lateness.Left : lease.Fetch?.BeLate(isSent: true) ?? Lateness.Borne;
    }

    public override void SendElsewhere(bool isPaid)
    {
        bool moves;
        lock (Gate)
            moves = _sink is not null && lease.Fetch?.TryMove(isPaid) == true;
        if (moves)
            TryAbandon(new NntpException(NntpFault.GivenUp, "The connection is held up by an article that does not come."));
    }

    public override void Measure(LineEstimate line)
    {
        if (BodyStartedAt != 0)
            line.ObserveTransfer(Received, BodyStartedAt);
    }

    protected override void LetGo() => _sink = null;

    private bool WriteToSink(IArticleSink sink, ReadOnlySpan<byte> raw, out int consumed)
    {
        var ended = sink.Write(raw, out consumed);
        if (!ended)
            _scanner.Skip(raw);
        return ended;
    }
}
