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
    private readonly Lock _gate = new();
    private readonly Stack<YencDecoder> _decoders = new();

    /// <summary>Fills the slot, whatever it takes. Never fails: the outcome is the slot's.</summary>
    public async Task FetchAsync(SegmentSlot slot, OperationLane lane, bool headOfLine, CancellationToken cancellationToken)
    {
        var decoder = RentDecoder();
        var sink = new SegmentSink(slot, blocks, decoder, mayPublish: slot.IsLanding && !options.VerifyBeforeServe);
        try
        {
            var ids = await slot.Piece.File.Ids.GetAsync(slot.Piece.Segment.Index, cancellationToken);
            if (ids.Primary.IsEmpty)
                slot.Fail(new ArticleGoneException(ArticleLoss.NeverPosted, slot.Piece.Segment.Index));
            else
                slot.Complete(await FetchWithRetriesAsync(slot, sink, ids, new Errand(lane, headOfLine), cancellationToken));
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

        throw new ArticleGoneException(loss, slot.Piece.Segment.Index);
    }

    /// <summary>Asks each provider for one article until a copy is proved; damaged copies are asked for once more at the end.</summary>
    private async Task<(SegmentBuffer? Buffer, ArticleLoss Loss)> FetchCopyAsync(SegmentSlot slot, SegmentSink sink, MessageId id, Errand errand, CancellationToken cancellationToken)
    {
        var expectedBytes = (long)(slot.Piece.Segment.Length * EncodedPerDecoded);
        var loss = ArticleLoss.Missing;
        SegmentBuffer? unconfirmed = null;
        try
        {
            for (var round = 0; round < 2; round++)
            {
                var excluded = default(ProviderSet);
                while (true)
                {
                    var request = new ArticleRequest(id, errand.Lane, errand.HeadOfLine, expectedBytes, excluded);
                    var reply = await source.FetchAsync(request, sink, cancellationToken);
                    if (!reply.IsFound)
                        break;

                    var proof = sink.Judge();
                    if (proof == SegmentProof.Proved || (proof == SegmentProof.Unconfirmed && unconfirmed is not null))
                        return (sink.Take(), default);
                    if (proof == SegmentProof.Unconfirmed)
                    {
                        unconfirmed = sink.Take();
                    }
                    else
                    {
                        loss = ArticleLoss.Corrupt;
                        StreamsLog.CorruptArticle(logger, slot.Piece.Segment.Index + 1, reply.Provider);
                    }

                    excluded = excluded.With(reply.Provider);
                }

                if (unconfirmed is not null)
                {
                    var accepted = unconfirmed;
                    unconfirmed = null;
                    return (accepted, default);
                }

                if (loss == ArticleLoss.Missing)
                    break;
            }

            return (null, loss);
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

    private readonly record struct Errand(OperationLane Lane, bool HeadOfLine);
}
