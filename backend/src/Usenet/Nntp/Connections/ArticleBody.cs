using System.Buffers;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Wire;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>The pending reply to one BODY command (RFC 3977 section 6.2.3).</summary>
/// <param name="lease">Holds the request and its fetch. The fetch, if any, receives the body, and the reply uses the fetch's lock as its own.</param>
/// <param name="sink">Receives the body if the lease has no fetch, always with provider index 0.</param>
internal sealed class ArticleBody(ConnectionLease lease, IArticleSink? sink = null) : PendingReply(lease.Fetch?.Gate)
{
    // Guarded by Gate. True once the fetch has ended, so that nothing more may be written to it.
    private bool _isLetGo;
    private long _claimed;
    private BodyScanner _scanner = BodyScanner.AtStart;
    private bool _answered;

    /// <summary>The reply code of a miss; 0 if there is a body, or no reply yet. Read loop only.</summary>
    public int MissCode { get; private set; }

    /// <summary>Whether the body arrived in time for a fetch that still wanted it, so that its duration says something about the line.</summary>
    public bool WasInTime => MissCode == 0 && !IsAbandoned && Request.Urgency is not { WasLate: true };

    public ConnectionLease Lease => lease;
    public override ref readonly ArticleRequest Request => ref lease.Request;

    public override int Commands => 1;

    public override int Unanswered => _answered ? 0 : 1;

    // The smaller claim counts, because the NZB and the article may each state a wrong length. The article's claim excludes escapes and line ends.
    public override long StillToCome => Request.ExpectedBytes > 0 ? Math.Min(_claimed, Request.ExpectedBytes - Received) : 0;

    public override long Remaining => Math.Max(Request.ExpectedBytes - Received, 1);

    // The rest of the fetch and the segment check are short. A source with slower callers switches threads itself.
    protected override bool ContinuesInline => true;

    public override void WriteCommands(IBufferWriter<byte> output) => NntpCommandWriter.WriteBody(output, Request.Id);

    public override ReplyStep Take(in NntpResponse response, long now)
    {
        if (response.Code == NntpResponseCode.Body)
        {
            CheckEcho(response, Request.Id);
            BodyStartedAt = now;
            lock (Gate)
                (_isLetGo ? null : sink)?.Start(0);
            return ReplyStep.Body;
        }

        CheckMiss(response, Request.Id);
        MissCode = response.Code;
        _answered = true;
        return ReplyStep.End;
    }

    /// <summary>Passes the next bytes to the fetch, or scans an unwanted body for its end.</summary>
    public override bool Write(ReadOnlySpan<byte> raw, out int consumed)
    {
        lock (Gate)
        {
            // The scanner tracks the bytes that the fetch decodes, so that it knows how much of the terminator has arrived if the fetch ends now.
            _answered = _isLetGo ? _scanner.Scan(raw, out consumed) : Pass(raw, out consumed);
            Received += consumed;
            _claimed = _isLetGo ? 0 : lease.Fetch?.StillToCome(lease.Attempt) ?? sink!.StillToCome;
            return _answered;
        }
    }

    public override Lateness OnLate()
    {
        // Under Gate, so that the fetch does not move to another provider before it has decided about this reply.
        lock (Gate)
            return _isLetGo ? Lateness.Abandoned : lease.Fetch?.OnLate(lease.Attempt, isSent: true) ?? Lateness.Tolerated;
    }

    public override void SendElsewhere(bool isPaid)
    {
        bool moves;
        lock (Gate)
            moves = !_isLetGo && lease.Fetch?.TryMove(lease.Attempt, isPaid) == true;
        if (moves)
            TryAbandon(new NntpException(NntpFault.GivenUp, "The connection is blocked by an article that does not arrive."));
    }

    public override void Measure(LineEstimate line)
    {
        if (BodyStartedAt != 0)
            line.ObserveTransfer(Received, BodyStartedAt);
    }

    protected override void LetGo() => _isLetGo = true;

    private bool Pass(ReadOnlySpan<byte> raw, out int consumed)
    {
        var isWhole = lease.Fetch is { } fetch ? fetch.Write(lease.Attempt, raw, out consumed) : sink!.Write(raw, out consumed);
        if (isWhole is null)
            return _scanner.Scan(raw, out consumed);
        if (isWhole is false)
            _scanner.Skip(raw);
        return isWhole.Value;
    }
}
