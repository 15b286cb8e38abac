using System.Buffers;

namespace Sluice.Usenet.Nntp;

/// <summary>The pending reply to one BODY command (RFC 3977 section 6.2.3), and then to another one.</summary>
/// <param name="fetch">Decides what becomes of a late reply, and orders its replies by its own lock; null where lateness is borne.</param>
internal sealed class ArticleBody(IPendingFetch? fetch = null) : PendingReply(default, fetch?.Gate)
{
    private int _provider;

    // Guarded by the gate; null once the fetch has ended.
    private IArticleSink? _sink;
    private BodyScanner _scanner = BodyScanner.AtStart;
    private bool _answered;

    /// <summary>Why the provider has no body to send; 0 while it has, or has not answered. Read loop only.</summary>
    public int MissCode { get; private set; }

    /// <summary>Whether a body has come for somebody who has waited for it all the time, and was not late.</summary>
    public bool WasInTime => MissCode == 0 && !IsAbandoned && Request.Urgency is not { WasLate: true };

    public override int Commands => 1;

    public override int Unanswered => _answered ? 0 : 1;

    /// <summary>By the size that the request promised.</summary>
    public override long Remaining => Math.Max(Request.ExpectedBytes - Received, 1);

    // The walk to the next provider and the proof of the segment are short; a source whose callers may do more lets go of the loop itself.
    protected override bool ContinuesInline => true;

    /// <summary>Is the reply to a command from now on; the one before has ended and was not abandoned.</summary>
    /// <param name="request">What is asked for.</param>
    /// <param name="sink">Takes the body until the fetch has ended.</param>
    /// <param name="provider">Index of the provider that is asked.</param>
    public void Begin(in ArticleRequest request, IArticleSink sink, int provider)
    {
        Restart(request);
        (_provider, _scanner, _answered, MissCode) = (provider, BodyScanner.AtStart, false, 0);
        lock (Gate)
            _sink = sink;
    }

    public override void WriteCommands(IBufferWriter<byte> output) => NntpCommandWriter.WriteBody(output, Request.Id);

    public override ReplyStep Take(in NntpResponse response, long now)
    {
        if (response.Code == NntpResponseCode.Body)
        {
            ReplyFaults.CheckEcho(response, Request.Id);
            BodyStartedAt = now;
            lock (Gate)
                _sink?.Start(_provider);
            return ReplyStep.Body;
        }

        if (!NntpResponseCode.IsMiss(response.Code))
            throw ReplyFaults.Refused(response);
        ReplyFaults.CheckMiss(response, Request.Id);
        MissCode = response.Code;
        _answered = true;
        return ReplyStep.End;
    }

    /// <summary>Hands the next stretch to the sink, or looks for the end of what nobody wants.</summary>
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
        lock (Gate)
        {
            if (_sink is null)
                return Lateness.Left;
        }

        return fetch?.BeLate(isSent: true) ?? Lateness.Borne;
    }

    public override void SendElsewhere(bool isPaid)
    {
        lock (Gate)
        {
            if (_sink is null)
                return;
        }

        if (fetch?.TryMove(isPaid) == true)
            Abandon(new NntpException(NntpFault.GivenUp, "The connection is held up by an article that does not come."));
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
