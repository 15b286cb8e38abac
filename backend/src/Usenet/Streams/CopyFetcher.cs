using System.Runtime.CompilerServices;
using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Streams;

/// <summary>Fetches one copy of a segment's article: asks one provider after the other until the copy is proved.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class CopyFetcher(IArticleSource source, ILogger logger)
{
    // yEnc turns 128 bytes into a line of about 132 with its CRLF; headers of the article do not come with BODY.
    private const double EncodedPerDecoded = 1.032;

    /// <summary>Fetches the article of an id; one that came damaged may have been damaged on its way, so every provider is asked twice.</summary>
    /// <returns>The buffer with one count on it, or null and why there is none.</returns>
    /// <exception cref="NntpException">Not every provider could be asked.</exception>
    /// <exception cref="MapRefutedException">The article lies elsewhere, which may be right.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<(SegmentBuffer? Buffer, ArticleLoss Loss)> FetchAsync(
        SharedFetch fetch, SegmentSink sink, MessageId id, CancellationToken cancellationToken)
    {
        var (buffer, loss) = await AskEachProviderAsync(fetch, sink, id, cancellationToken);
        return buffer is null && loss == ArticleLoss.Corrupt
            ? await AskEachProviderAsync(fetch, sink, id, cancellationToken)
            : (buffer, loss);
    }

    /// <summary>Goes on until a copy is proved, or two agree that lack their trailer.</summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<(SegmentBuffer? Buffer, ArticleLoss Loss)> AskEachProviderAsync(
        SharedFetch fetch, SegmentSink sink, MessageId id, CancellationToken cancellationToken)
    {
        var segment = fetch.Key.Segment;
        var excluded = default(ProviderSet);
        var loss = ArticleLoss.Missing;
        SegmentBuffer? unconfirmed = null;
        try
        {
            while (true)
            {
                var request = new ArticleRequest(id, fetch.Lane, fetch.Urgency, (long)(segment.Length * EncodedPerDecoded), excluded) { Release = fetch.File };
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
                    case SegmentProof.Refuting:
                        throw new MapRefutedException(sink.Claim);
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
}
