using System.Runtime.InteropServices;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Probing;

/// <summary>
/// Finds the map of a file whose articles carry no ranges, as those of uuencode: all of them are fetched, because the lengths of those
/// before it alone say where one begins (IMP-35).
/// </summary>
/// <param name="heads">Of the file.</param>
/// <param name="options">How long the file may be.</param>
/// <param name="counted">Told of each article; null: nobody.</param>
internal sealed class ArticleCounter(SegmentHeads heads, ProbeOptions options, Action? counted)
{
    private readonly int _last = heads.Count - 1;

    /// <summary>Fetches what lies between two articles.</summary>
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
            articles[index] = answer.Head;
            Interlocked.Add(ref length, LengthOf(answer.Head));
            if (answer.State == HeadState.Missing)
                Interlocked.Increment(ref missing);
        }, cancellationToken);

        var partSize = UsualLength(articles);
        await ForEachAsync(
            Enumerable.Range(0, heads.Count).Where(index => MayBeCut(articles[index], index == _last, partSize)),
            async (index, token) => articles[index] = await FetchBetterAsync(index, articles[index]!, partSize, token),
            cancellationToken);
        return Add(articles, partSize, missing);
    }

    /// <summary>An article whose end may be missing, if it is the only one of its file, from another provider where that has more of it.</summary>
    public async Task<ArticleHead> CompleteAsync(ArticleHead only, CancellationToken cancellationToken) =>
        MayBeCut(only, isLast: true, partSize: 0) ? await FetchBetterAsync(0, only, partSize: 0, cancellationToken) : only;

    private FoundMap Add(ArticleHead?[] articles, long partSize, int missing)
    {
        if (articles.Sum(LengthOf) > options.MaxCounted)
            return FoundMap.TooLong;

        // An article that nobody has is as long as the others if those are all equal. Else nobody knows where the next one begins, nor
        // behind one that is damaged everywhere.
        var unknown = articles.Count(article => article is null);
        var isUniform = articles.SkipLast(1).All(article => article is null || article.DecodedLength == partSize);
        if (unknown > missing || (unknown > 0 && !isUniform))
            return new FoundMap(null, false) { Counted = _last - 1, Missing = missing };
        return new FoundMap(SegmentMap.FromLengths([.. articles.Select(article => article?.DecodedLength ?? partSize)]), unknown == 0) { Counted = _last - 1 };
    }

    // Uuencode says nothing about its length, and what is cut behind a line has no mark. Parts are equal, and the last one has an end.
    private static bool MayBeCut(ArticleHead? article, bool isLast, long partSize) =>
        article is { Encoding: ArticleEncoding.Uuencode } && (isLast ? !article.HasTrailer : article.DecodedLength != partSize);

    private async Task<ArticleHead> FetchBetterAsync(int index, ArticleHead known, long partSize, CancellationToken cancellationToken)
    {
        var answer = await heads.FetchBesideAsync(
            index, known, other => MapFinder.IsPlausible(other, index, heads.Count) && other.IsIntact && !MayBeCut(other, index == _last, partSize), cancellationToken);
        return answer.Head ?? known;
    }

    private async Task ForEachAsync(IEnumerable<int> indexes, Func<int, CancellationToken, Task> fetchAsync, CancellationToken cancellationToken) =>
        await Parallel.ForEachAsync(
            indexes,
            new ParallelOptions { MaxDegreeOfParallelism = options.Concurrency, CancellationToken = cancellationToken },
            async (index, token) =>
            {
                await fetchAsync(index, token);
                counted?.Invoke();
            });

    // The length that most articles have; the last one does not count, because it holds what is left.
    private static long UsualLength(ArticleHead?[] articles)
    {
        var frequency = new Dictionary<long, int>();
        foreach (var article in articles.SkipLast(1).OfType<ArticleHead>())
            CollectionsMarshal.GetValueRefOrAddDefault(frequency, LengthOf(article), out _)++;
        return frequency.MaxBy(pair => (pair.Value, pair.Key)).Key;
    }

    private static long LengthOf(ArticleHead? article) => article?.DecodedLength ?? 0;
}
