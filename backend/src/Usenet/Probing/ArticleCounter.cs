using System.Runtime.InteropServices;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Probing;

/// <summary>
/// Finds the map of a file whose articles carry no ranges, as those of uuencode: all of them are fetched, because an article begins
/// where the lengths of those before it say (IMP-35).
/// </summary>
/// <remarks>
/// Uuencode carries neither its length nor a checksum, so a copy that is cut behind a line looks whole. Two things show that a copy may be
/// cut: a part that is not as long as the others, and a last part without its end. Of such an article the other providers are asked for a
/// longer copy; the longest one is the article, because a cut only takes away.
/// </remarks>
/// <param name="heads">Of the file.</param>
/// <param name="options">How long the file may be.</param>
/// <param name="fetched">Called after each article that is fetched; null when the caller needs no progress.</param>
internal sealed class ArticleCounter(SegmentHeads heads, ProbeOptions options, Action? fetched)
{
    private readonly int _last = heads.Count - 1;

    /// <summary>Fetches all articles between the first and the last one.</summary>
    /// <param name="first">The first article of the file, whole.</param>
    /// <param name="last">The last one, whole.</param>
    /// <param name="cancellationToken">Gives up.</param>
    public async Task<FoundMap> CountAsync(ArticleHead first, ArticleHead last, CancellationToken cancellationToken)
    {
        // A file that is much too long is not fetched to find that out: its parts are about as long as the first one.
        var length = LengthOf(first) + LengthOf(last);
        if (heads.Count > options.MaxCountedArticles || length + (_last - 1) * LengthOf(first) > options.MaxCounted)
            return FoundMap.TooLong;

        var articles = new ArticleHead?[heads.Count];
        (articles[0], articles[_last]) = (first, last);
        var missing = 0;
        await ForEachAsync(Enumerable.Range(1, _last - 1), async (index, token) =>
        {
            if (Interlocked.Read(ref length) > options.MaxCounted)
                return;
            var answer = await heads.ProveAsync(index, head => MapFinder.IsPlausible(head, index, heads.Count), token);

            // Of thousands of articles only the lengths are kept.
            articles[index] = answer.Head is { } head ? head with { FirstBytes = default } : null;
            Interlocked.Add(ref length, LengthOf(answer.Head));
            if (answer.State == HeadState.Missing)
                Interlocked.Increment(ref missing);
        }, cancellationToken);

        var usual = UsualLength(articles);
        await ForEachAsync(
            Enumerable.Range(0, heads.Count).Where(index => MayBeCut(articles[index], index, usual)),
            async (index, token) => articles[index] = await FetchLongestAsync(index, articles[index]!, usual, token),
            cancellationToken);
        return Add(articles, usual ?? LengthOf(articles[0]), missing);
    }

    /// <summary>The only article of its file: from another provider when its end is missing and that one has more of it.</summary>
    public async Task<ArticleHead> CompleteAsync(ArticleHead only, CancellationToken cancellationToken) =>
        MayBeCut(only, 0, usual: null) ? await FetchLongestAsync(0, only, usual: null, cancellationToken) : only;

    private FoundMap Add(ArticleHead?[] articles, long partSize, int missing)
    {
        if (articles.Sum(LengthOf) > options.MaxCounted)
            return FoundMap.TooLong;

        // An article that no provider has is taken to be as long as the others where those are all equal. Where they are not, and behind an
        // article that is damaged at every provider, the place of the next one is unknown.
        var unknown = articles.Count(article => article is null);
        var isUniform = articles.SkipLast(1).All(article => article is null || article.DecodedLength == partSize);
        if (unknown > missing || (unknown > 0 && !isUniform))
            return new FoundMap(null, false) { Counted = _last - 1, Missing = missing };
        return new FoundMap(SegmentMap.FromLengths([.. articles.Select(article => article?.DecodedLength ?? partSize)]), unknown == 0) { Counted = _last - 1 };
    }

    private bool MayBeCut(ArticleHead? article, int index, long? usual) =>
        article is { Encoding: ArticleEncoding.Uuencode } && (index == _last ? !article.HasTrailer : article.DecodedLength != usual);

    private async Task<ArticleHead> FetchLongestAsync(int index, ArticleHead known, long? usual, CancellationToken cancellationToken)
    {
        // Ends because each copy is longer than the one before it, or beyond doubt.
        while (MayBeCut(known, index, usual))
        {
            var answer = await heads.FetchBesideAsync(index, known, IsBetter, cancellationToken);
            if (answer.Head is not { } better)
                break;
            known = better;
        }

        return known;

        bool IsBetter(ArticleHead other) =>
            MapFinder.IsPlausible(other, index, heads.Count) && other.IsIntact
            && (other.DecodedLength > known.DecodedLength || !MayBeCut(other, index, usual));
    }

    private async Task ForEachAsync(IEnumerable<int> indexes, Func<int, CancellationToken, Task> fetchAsync, CancellationToken cancellationToken) =>
        await Parallel.ForEachAsync(
            indexes,
            new ParallelOptions { MaxDegreeOfParallelism = options.Concurrency, CancellationToken = cancellationToken },
            async (index, token) =>
            {
                await fetchAsync(index, token);
                fetched?.Invoke();
            });

    // The last article does not count, because it holds the rest of the file. A length that only one article has confirms nothing.
    private static long? UsualLength(ArticleHead?[] articles)
    {
        var frequency = new Dictionary<long, int>();
        foreach (var article in articles.SkipLast(1).OfType<ArticleHead>())
            CollectionsMarshal.GetValueRefOrAddDefault(frequency, LengthOf(article), out _)++;
        var (length, count) = frequency.MaxBy(pair => (pair.Value, pair.Key));
        return count > 1 ? length : null;
    }

    private static long LengthOf(ArticleHead? article) => article?.DecodedLength ?? 0;
}
