using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Probing;

/// <summary>
/// Corrects a segment map after an article contradicted it. The article's claim is accepted if its neighbors agree. The other lengths are found by bisecting
/// over headers until they agree with the old map again (IMP-31, IMP-32).
/// </summary>
/// <remarks>Thread-safe. Fetches in lane Playback, because a viewer waits; a deviation costs about log2(n) heads.</remarks>
public sealed class MapCorrector
{
    private readonly IArticleSource _source;
    private readonly ProbeOptions _options;

    /// <summary>
    /// Creates a corrector. Does not own <paramref name="source"/>; null <paramref name="options"/> mean the defaults. The fetches are charged to
    /// <paramref name="account"/>, which may be null.
    /// </summary>
    public MapCorrector(IArticleSource source, ProbeOptions? options = null, ReaderAccount? account = null)
    {
        ArgumentNullException.ThrowIfNull(source);
        _source = source;
        _options = (options ?? new ProbeOptions { Lane = OperationLane.Playback, TrailerPatience = TimeSpan.Zero }) with { Account = account };
    }

    /// <summary>Returns the map of equal parts that fits the claim; null if none does.</summary>
    /// <remarks>If the old map was only an estimate, all its parts are wrong and one article shows their real length.</remarks>
    private static SegmentMap? UniformBy(Segment claim, int count, long length)
    {
        if (count == 1)
            return null;
        var partSize = claim.Index < count - 1 ? claim.Length : claim.Begin / claim.Index;
        var last = length - (count - 1) * partSize;
        return claim.Begin == claim.Index * partSize && partSize <= SegmentMap.MaxSegmentLength && last > 0 && last <= partSize
            ? SegmentMap.Uniform(count, partSize, length)
            : null;
    }

    private static bool Agrees(SegmentMap map, int index, ArticleHead? head) =>
        head is null || (map[index].Begin == head.Begin && map[index].Length == head.Length);

    /// <summary>Verifies a claim and corrects the map.</summary>
    /// <param name="claim">The location stated by an intact article.</param>
    /// <param name="leastLength">Minimum length of the file in bytes if the map's length is an estimate; null if that length is verified.</param>
    /// <returns>
    /// A map of the same count that contains the claim; null if the articles contradict each other. The length stays the same, unless it was an estimate and
    /// the last article shows a different length.
    /// </returns>
    /// <exception cref="NntpException">No provider gave a final answer.</exception>
    /// <exception cref="IOException">The stored message-ids are lost or damaged.</exception>
    public async Task<SegmentMap?> CorrectAsync(ISegmentIds ids, SegmentMap refuted, Segment claim, long? leastLength, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(ids);
        ArgumentNullException.ThrowIfNull(refuted);

        var count = refuted.Count;
        using var fetcher = new HeadFetcher(_source, _options);
        var segments = new SegmentHeads(fetcher, ids, claim.EncodedLength);
        var before = new SegmentRange(0, claim.Index, 0, claim.Begin);
        if (!before.IsPossible || (leastLength is null && !Behind(refuted.Length).IsPossible))
            return null;

        // In parallel, because a viewer waits. The neighbors must confirm the claim, because an article of another file may carry this number.
        var ending = leastLength is null ? Task.FromResult<(ArticleHead?, long)>((null, refuted.Length)) : FindEndAsync(segments, refuted, claim, cancellationToken);
        var neighbors = Task.WhenAll(FetchAsync(claim.Index - 1), FetchAsync(claim.Index + 1));
        await Task.WhenAll(ending, neighbors);
        var (last, length) = await ending;
        var heads = await neighbors;
        var behind = Behind(length);
        if (length < leastLength || !behind.IsPossible)
            return null;

        var lengths = new long[count];
        lengths[claim.Index] = claim.Length;
        var witnesses = 0;
        if (heads[0].Head is { } previous)
        {
            if (previous.End != claim.Begin || !before.CanHold(previous, claim.Index - 1))
                return null;
            witnesses++;
            lengths[claim.Index - 1] = previous.Length ?? 0;
            before = before with { Limit = claim.Index - 1, End = previous.Begin ?? 0 };
        }

        if (heads[1].Head is { } next)
        {
            if (next.Begin != claim.End || !behind.CanHold(next, claim.Index + 1))
                return null;
            witnesses++;
            lengths[claim.Index + 1] = next.Length ?? 0;
            behind = behind with { First = claim.Index + 2, Begin = next.End ?? 0 };
        }

        if (witnesses == 0)
            return null;
        if (UniformBy(claim, count, length) is { } uniform && Agrees(uniform, claim.Index - 1, heads[0].Head) && Agrees(uniform, claim.Index + 1, heads[1].Head)
            && Agrees(uniform, count - 1, last))
            return uniform;
        var bisector = new MapBisector(
            segments, _options, range => range.TryFill(lengths, refuted) || range.TryFill(lengths, refuted[0].Length));
        return await bisector.SettleAsync(lengths, [before, behind], cancellationToken) is null ? null : SegmentMap.FromLengths(lengths);

        SegmentRange Behind(long end) => new(claim.Index + 1, count, claim.End, end);

        Task<HeadAnswer> FetchAsync(int index) => index < 0 || index == count
            ? Task.FromResult(HeadAnswer.NeverPosted)
            : segments.FetchAsync(index, head => MapFinder.IsPlausible(head, index, count), cancellationToken);
    }

    /// <summary>Returns the last article's head and the file length that it shows; null and the old length if no provider has the article.</summary>
    private static async Task<(ArticleHead? Last, long Length)> FindEndAsync(SegmentHeads segments, SegmentMap refuted, Segment claim, CancellationToken cancellationToken)
    {
        var index = refuted.Count - 1;
        if (claim.Index == index)
            return (null, claim.End);
        var answer = await segments.FetchAsync(index, head => MapFinder.IsPlausible(head, index, refuted.Count), cancellationToken);
        return (answer.Head, answer.Head?.End ?? refuted.Length);
    }
}
