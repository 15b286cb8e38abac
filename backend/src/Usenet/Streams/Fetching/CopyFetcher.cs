using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Streams;

/// <summary>Fetches one copy of a segment's article: asks one provider after the other until the copy is proved.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class CopyFetcher(IArticleSource source, ILogger logger)
{
    /// <summary>Asks for an article once.</summary>
    /// <param name="fetch">What it is for.</param>
    /// <param name="sink">Takes it, and judges it then.</param>
    /// <param name="id">The article.</param>
    /// <param name="excluded">Whose copy is known to be bad.</param>
    /// <param name="cancellationToken">Gives the question up.</param>
    public ValueTask<ArticleReply> AskAsync(SharedFetch fetch, SegmentSink sink, MessageId id, ProviderSet excluded, CancellationToken cancellationToken)
    {
        var request = new ArticleRequest(id, fetch.Lane, fetch.Urgency, fetch.Key.Segment.EncodedLength, excluded) { Release = fetch.File, ContinuesInline = true };
        return source.FetchAsync(request, sink, cancellationToken);
    }

    /// <summary>Fetches the article of an id; one that came damaged may have been damaged on its way, so every provider is asked twice.</summary>
    /// <param name="fetch">What it is for.</param>
    /// <param name="sink">Takes it.</param>
    /// <param name="id">The article.</param>
    /// <param name="first">What has been answered already; null for nothing.</param>
    /// <param name="cancellationToken">Gives the fetch up.</param>
    /// <returns>The buffer with one count on it, or null and why there is none.</returns>
    /// <exception cref="NntpException">Not every provider could be asked.</exception>
    /// <exception cref="MapRefutedException">The article lies elsewhere, which may be right.</exception>
    public async ValueTask<(SegmentBuffer? Buffer, ArticleLoss Loss)> FetchAsync(
        SharedFetch fetch, SegmentSink sink, MessageId id, FirstAnswer? first, CancellationToken cancellationToken)
    {
        var (buffer, loss) = await AskEachProviderAsync(fetch, sink, id, first, cancellationToken);
        return buffer is null && loss == ArticleLoss.Corrupt
            ? await AskEachProviderAsync(fetch, sink, id, null, cancellationToken)
            : (buffer, loss);
    }

    /// <summary>Goes on until a copy is proved, or two agree that lack their trailer.</summary>
    private async ValueTask<(SegmentBuffer? Buffer, ArticleLoss Loss)> AskEachProviderAsync(
        SharedFetch fetch, SegmentSink sink, MessageId id, FirstAnswer? first, CancellationToken cancellationToken)
    {
        var excluded = default(ProviderSet);
        var loss = ArticleLoss.Missing;
        SegmentBuffer? unconfirmed = null;
        try
        {
            while (true)
            {
                var reply = first?.Reply ?? await AskAsync(fetch, sink, id, excluded, cancellationToken);
                if (!reply.IsFound)
                {
                    var accepted = unconfirmed;
                    unconfirmed = null;
                    return (accepted, loss);
                }

                var proof = first?.Proof ?? sink.Judge();
                first = null;
                switch (proof)
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
                        StreamsLog.CorruptArticle(logger, fetch.Key.Segment.Index + 1, reply.Provider);
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
