using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams;

/// <summary>
/// Brings one segment into its slot: asks for its article, decodes it while it arrives, compares it with the map, and goes on
/// with another provider, another copy or a later try until it is proved, or proved to be gone.
/// </summary>
/// <remarks>Thread-safe; one call per segment.</remarks>
internal sealed class SegmentFetcher(IArticleSource source, BlockPool blocks, StreamOptions options, TimeProvider time, ILogger logger)
{
    // yEnc turns 128 bytes into a line of about 132 with its CRLF; headers of the article do not come with BODY.
    private const double EncodedPerDecoded = 1.032;
    private const int DecodersKept = 64;

    private readonly RetryPolicy _retry = new(options);
    private readonly GoneArticles _gone = new(time);
    private readonly Lock _gate = new();
    private readonly Stack<YencDecoder> _decoders = new();

    /// <summary>Fills the slot, whatever it takes. Never fails: the outcome is the slot's.</summary>
    public async Task FetchAsync(SegmentSlot slot, OperationLane lane, FetchUrgency urgency, CancellationToken cancellationToken)
    {
        var decoder = RentDecoder();
        var sink = new SegmentSink(slot, blocks, decoder, mayPublish: slot.IsLanding && !options.VerifyBeforeServe);
        try
        {
            var ids = await slot.Piece.File.Ids.GetAsync(slot.Piece.Segment.Index, cancellationToken);
            if (KnownLoss(ids) is { } loss)
                slot.Fail(new ArticleGoneException(loss, slot.Piece.Segment.Index));
            else
                slot.Complete(await FetchWithRetriesAsync(slot, sink, ids, new Errand(lane, urgency), cancellationToken));
        }
        catch (Exception failure) when (failure is IOException or OperationCanceledException or ObjectDisposedException)
        {
            slot.Fail(failure);
        }
        catch (Exception failure)
        {
            // A defect of ours must not leave a reader waiting for ever.
            StreamsLog.FetchBroke(logger, failure);
            slot.Fail(new IOException("The article could not be read.", failure));
        }
        finally
        {
            sink.Close();
            ReturnDecoder(decoder);
        }
    }

    private async Task<SegmentBuffer> FetchWithRetriesAsync(SegmentSlot slot, SegmentSink sink, SegmentIds ids, Errand errand, CancellationToken cancellationToken)
    {
        var started = time.GetTimestamp();
        for (var tries = 1; ; tries++)
        {
            TimeSpan delay;
            try
            {
                return await FetchFromAnyCopyAsync(slot, sink, ids, errand, cancellationToken);
            }
            catch (NntpException fault)
            {
                if (_retry.DelayBeforeNext(fault, errand.Lane, tries, time.GetElapsedTime(started)) is not { } pause)
                    throw;
                delay = pause;
            }

            await Task.Delay(delay, time, cancellationToken);
        }
    }

    /// <summary>Asks for the primary id, then for those of duplicates.</summary>
    private async Task<SegmentBuffer> FetchFromAnyCopyAsync(SegmentSlot slot, SegmentSink sink, SegmentIds ids, Errand errand, CancellationToken cancellationToken)
    {
        var loss = ArticleLoss.Missing;
        for (var copy = -1; copy < ids.Fallbacks.Count; copy++)
        {
            var id = copy < 0 ? ids.Primary : ids.Fallbacks[copy];
            var (buffer, thisLoss) = await FetchCopyAsync(slot, sink, id, errand, cancellationToken);
            if (buffer is not null)
                return buffer;
            if (thisLoss == ArticleLoss.Corrupt)
                loss = thisLoss;
        }

        _gone.Remember(ids.Primary, loss);
        throw new ArticleGoneException(loss, slot.Piece.Segment.Index);
    }

    private ArticleLoss? KnownLoss(SegmentIds ids) => ids.Primary.IsEmpty ? ArticleLoss.NeverPosted : _gone.Find(ids.Primary);

    /// <summary>Fetches one copy; one that came damaged may have been damaged on its way, so every provider is asked twice.</summary>
    private async Task<(SegmentBuffer? Buffer, ArticleLoss Loss)> FetchCopyAsync(SegmentSlot slot, SegmentSink sink, MessageId id, Errand errand, CancellationToken cancellationToken)
    {
        var (buffer, loss) = await AskEachProviderAsync(slot, sink, id, errand, cancellationToken);
        return buffer is null && loss == ArticleLoss.Corrupt
            ? await AskEachProviderAsync(slot, sink, id, errand, cancellationToken)
            : (buffer, loss);
    }

    /// <summary>Asks one provider after the other until a copy is proved, or two agree that lack their trailer.</summary>
    private async Task<(SegmentBuffer? Buffer, ArticleLoss Loss)> AskEachProviderAsync(SegmentSlot slot, SegmentSink sink, MessageId id, Errand errand, CancellationToken cancellationToken)
    {
        var segment = slot.Piece.Segment;
        var excluded = default(ProviderSet);
        var loss = ArticleLoss.Missing;
        SegmentBuffer? unconfirmed = null;
        try
        {
            while (true)
            {
                var request = new ArticleRequest(id, errand.Lane, errand.Urgency, (long)(segment.Length * EncodedPerDecoded), excluded);
                var reply = await source.FetchAsync(request, sink, cancellationToken);
                if (!reply.IsFound)
                {
                    var accepted = unconfirmed;
                    unconfirmed = null;
                    return (accepted, loss);
                }

                switch (sink.Judge())
                {
                    case SegmentProof.Proved:
                    case SegmentProof.Unconfirmed when unconfirmed is not null:
                        return (sink.Take(), default);
                    case SegmentProof.Unconfirmed:
                        unconfirmed = sink.Take();
                        break;
                    default:
                        loss = ArticleLoss.Corrupt;
                        StreamsLog.CorruptArticle(logger, segment.Index + 1, reply.Provider);
                        break;
                }

                excluded = excluded.With(reply.Provider);
            }
        }
        finally
        {
            unconfirmed?.Release();
        }
    }

    private YencDecoder RentDecoder()
    {
        lock (_gate)
            return _decoders.TryPop(out var decoder) ? decoder : new YencDecoder();
    }

    private void ReturnDecoder(YencDecoder decoder)
    {
        lock (_gate)
        {
            if (_decoders.Count < DecodersKept)
                _decoders.Push(decoder);
        }
    }

    private readonly record struct Errand(OperationLane Lane, FetchUrgency Urgency);
}
