using System.Buffers;

namespace Sluice.Usenet.Nntp;

/// <summary>The incoming side of one connection: gives what arrives to the pending replies, in the order of their commands.</summary>
/// <remarks>Used by one read loop.</remarks>
internal sealed class ReplyReceiver(PendingReplies sent, ReplySilence silence, NntpOptions options, LineEstimate line, TimeProvider time)
{
    // The reply whose body goes on in the next stretch; null between replies.
    private PendingReply? _body;

    /// <summary>Takes as many replies as the buffer holds, and cuts off what they used.</summary>
    /// <param name="buffer">Lent.</param>
    /// <param name="arrived">How many of its bytes are new.</param>
    /// <param name="ended">Told of each reply that has come to its end.</param>
    /// <exception cref="NntpException">What came fits no command.</exception>
    public void Process(ref ReadOnlySequence<byte> buffer, long arrived, Action<PendingReply> ended)
    {
        // Told before the body is given on, because its sink may take longer than the connection may be silent.
        if (_body is not null)
            silence.Received(arrived, time.GetTimestamp());
        while (!buffer.IsEmpty)
        {
            if (_body is null)
            {
                if (!NntpResponseReader.TryRead(ref buffer, options.MaxLineBytes, out var response))
                    return;
                TakeLine(response, ended);
                continue;
            }

            var isWhole = _body.Write(buffer.FirstSpan, out var consumed);
            buffer = buffer.Slice(consumed);
            if (_body.Received > options.MaxArticleBytes)
                throw new NntpException(NntpFault.ArticleTooLarge, "The server sent more than an article may hold.");
            if (isWhole)
                End(_body, ended);
        }
    }

    private void TakeLine(in NntpResponse response, Action<PendingReply> ended)
    {
        if (!sent.TryPeek(out var reply) || response.Code == NntpResponseCode.ServiceUnavailable)
            throw ReplyFaults.Unsolicited(response);

        if (reply.SentOnIdleAt != 0)
            line.ObserveRoundTrip(reply.SentOnIdleAt);
        reply.SentOnIdleAt = 0;
        var now = time.GetTimestamp();
        silence.Heard(now);
        switch (reply.Take(response, now))
        {
            case ReplyStep.Body:
                _body = reply;
                break;
            case ReplyStep.End:
                End(reply, ended);
                break;
        }
    }

    private void End(PendingReply reply, Action<PendingReply> ended)
    {
        _body = null;
        reply.Measure(line);
        if (reply.BodyStartedAt != 0)
            silence.Ended();
        sent.TryRemove(time.GetTimestamp(), out _);
        ended(reply);
    }
}
