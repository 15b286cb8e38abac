using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Probing;

/// <summary>The heads of the segments of one posted file.</summary>
/// <remarks>Thread-safe.</remarks>
/// <param name="fetcher">Brings them; not owned.</param>
/// <param name="ids">The ids of the file.</param>
/// <param name="articleBytes">Encoded size of its articles as far as known, else 0.</param>
internal sealed class SegmentHeads(HeadFetcher fetcher, ISegmentIds ids, long articleBytes)
{
    /// <summary>Number of segments.</summary>
    public int Count => ids.Count;

    /// <summary>Fetches the head of a segment.</summary>
    /// <param name="index">0-based segment.</param>
    /// <param name="isPlausible">Whether a header belongs to this segment; what does not is another article, and as good as damaged.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="NntpException">Nothing can be said, because no provider could be asked to the end.</exception>
    /// <exception cref="IOException">The stored ids are lost.</exception>
    public Task<HeadAnswer> FetchAsync(int index, Func<ArticleHead, bool> isPlausible, CancellationToken cancellationToken) =>
        FetchAsync(index, new HeadDemand(isPlausible, Whole: false, articleBytes), cancellationToken);

    /// <summary>Fetches a whole article whose header is in doubt: only one whose data is intact and as long as its header says is accepted.</summary>
    /// <inheritdoc cref="FetchAsync(int, Func{ArticleHead, bool}, CancellationToken)"/>
    public Task<HeadAnswer> ProveAsync(int index, Func<ArticleHead, bool> isPlausible, CancellationToken cancellationToken) =>
        FetchAsync(index, new HeadDemand(isPlausible, Whole: true, articleBytes), cancellationToken);

    /// <summary>Fetches the head of a segment and its trailer, if that comes.</summary>
    /// <inheritdoc cref="FetchAsync(int, Func{ArticleHead, bool}, CancellationToken)"/>
    public Task<HeadAnswer> FetchWithTrailerAsync(int index, Func<ArticleHead, bool> isPlausible, CancellationToken cancellationToken) =>
        FetchAsync(index, new HeadDemand(isPlausible, Whole: false, articleBytes) { UntilEnd = true }, cancellationToken);

    /// <summary>Fetches the head of a segment from other providers than one whose copy says too little.</summary>
    /// <inheritdoc cref="FetchAsync(int, Func{ArticleHead, bool}, CancellationToken)"/>
    public Task<HeadAnswer> FetchBesideAsync(int index, ArticleHead known, Func<ArticleHead, bool> isPlausible, CancellationToken cancellationToken) =>
        FetchAsync(index, new HeadDemand(isPlausible, Whole: false, articleBytes) { Beside = default(ProviderSet).With(known.Provider) }, cancellationToken);

    private async Task<HeadAnswer> FetchAsync(int index, HeadDemand demand, CancellationToken cancellationToken) =>
        await fetcher.FetchAsync(await ids.GetAsync(index, cancellationToken), demand, cancellationToken);
}
