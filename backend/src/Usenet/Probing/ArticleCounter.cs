using System.Runtime.InteropServices;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Probing;

/// <summary>Maps a file without article ranges, such as uuencode. Fetches all articles, because each offset depends on all earlier articles (IMP-35).</summary>
/// <remarks>
/// Uuencode has no length and no checksum, so a copy truncated at a line end looks whole. Two signs of truncation: a part of unusual length, and a last part
/// without its end. Such an article is fetched from the other providers too. The longest copy wins, because truncation only removes data.
/// </remarks>
internal sealed class ArticleCounter(SegmentHeads heads, ProbeOptions options, Action? fetched)
{
    private readonly int _last = heads.Count - 1;

    /// <summary>Fetches all articles between the given <paramref name="first"/> and <paramref name="last"/>, which must be whole.</summary>
    public async Task<FoundMap> CountAsync(ArticleHead first, ArticleHead last, CancellationToken cancellationToken)
    {
        // Refuse an obviously too long file before fetching it; parts are about as long as the first.
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

            // Keep only the lengths, because there may be thousands of articles.
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

    /// <summary>Returns the only article of a file. If the article's end is missing, looks for a longer copy at other providers.</summary>
    public async Task<ArticleHead> CompleteAsync(ArticleHead only, CancellationToken cancellationToken) =>
        MayBeCut(only, 0, usual: null) ? await FetchLongestAsync(0, only, usual: null, cancellationToken) : only;

    private FoundMap Add(ArticleHead?[] articles, long partSize, int missing)
    {
        if (articles.Sum(LengthOf) > options.MaxCounted)
            return FoundMap.TooLong;

        // If all other parts are equal, a missing article is assumed to have the same length. Otherwise, and after an article damaged at every provider, the
        // next offset is unknown.
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
        // Terminates, because each copy is longer than the previous one or known to be whole.
        while (MayBeCut(known, index, usual))
        {
            var answer = await heads.FetchFromOthersAsync(index, known, IsBetter, cancellationToken);
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

    // Ignores the last article, because it holds the remainder. A length seen only once confirms nothing.
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
