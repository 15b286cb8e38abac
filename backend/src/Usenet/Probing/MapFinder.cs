using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Probing;

/// <summary>The segment map, or null if the articles do not suffice, and whether every fetched article agrees.</summary>
internal readonly record struct FoundMap(SegmentMap? Map, bool IsConfirmed)
{
    public static FoundMap TooLong => new(null, false) { IsTooLong = true };

    /// <summary>Whether the map is null because all articles would have to be fetched and are too many or too long.</summary>
    public bool IsTooLong { get; private init; }

    /// <summary>Number of articles between first and last that were fetched for their lengths.</summary>
    public int Counted { get; init; }

    /// <summary>Number of those articles missing everywhere, if the map is null because of them.</summary>
    public int Missing { get; init; }
}

/// <summary>Finds the segment map of a posted file. Unless first and last article show equal parts, bisects over headers to find every deviation.</summary>
internal sealed class MapFinder(SegmentHeads heads, ProbeOptions options, Action? counted = null)
{
    private readonly ArticleCounter _counter = new(heads, options, counted);

    /// <summary>Whether an article can be the segment at an index, judged from part number and range.</summary>
    /// <remarks>Ignores total, size and name, because these are often wrong in honest posts.</remarks>
    public static bool IsPlausible(ArticleHead head, int index, int count)
    {
        if (head.Length is not { } length || length < 0 || length > SegmentMap.MaxSegmentLength)
            return false;

        // A file of one segment may be a part of a file listed in pieces.
        if (count == 1)
            return true;
        if (head.Header?.Part is { } part && part != index + 1)
            return false;
        return head.Begin is not { } begin || (index == 0 ? begin == 0 : begin > 0 && begin <= (long)index * SegmentMap.MaxSegmentLength);
    }

    /// <summary>Finds the map from the first and last article; <paramref name="last"/> is null if missing.</summary>
    public async Task<FoundMap> FindAsync(ArticleHead first, ArticleHead? last, CancellationToken cancellationToken)
    {
        var count = heads.Count;
        if (count == 1)
            return await FindSingleAsync(first, cancellationToken);
        if (last is null)
            return new FoundMap(ByClaimedSize(count, first), false);
        if (first.Begin is null && last.Begin is null)
            return await _counter.CountAsync(first, last, cancellationToken);

        // If the headers disagree, one of them is wrong; reading the data shows which.
        if (!AreEqualParts(first, last, count))
            (first, last) = (await ProveAsync(0, first, cancellationToken), await ProveAsync(count - 1, last, cancellationToken));
        else if (last.End != first.Header?.FileSize)
            last = await ProveAsync(count - 1, last, cancellationToken);
        if (AreEqualParts(first, last, count))
            return new FoundMap(Uniform(count, first.Length ?? 0, (last.Begin ?? 0) + (last.Length ?? 0)), true);

        // If one article has no range and the other does not fit, only the order in the NZB can be used.
        if (first.Begin is null || last.Begin is null)
            return new FoundMap(Uniform(count, first.Length ?? 0, (count - 1) * (first.Length ?? 0) + (last.Length ?? 0)), false);

        // An article of another file can carry the right number; if its range is impossible, try another copy.
        var between = new SegmentRange(1, count - 1, first.End ?? 0, long.MaxValue);
        if (!Fits(last))
            last = await FetchLastAsync(Fits, cancellationToken);
        if (last is null)
            return new FoundMap(ByClaimedSize(count, first), false);

        // Contradicting ranges mean that some header is wrong; a copy of the last article that agrees with the first resolves it.
        var (map, isConfirmed) = await BisectAsync(first, last, cancellationToken);
        return !isConfirmed && await FetchLastAsync(head => AreEqualParts(first, head, count), cancellationToken) is { } other
            ? new FoundMap(Uniform(count, first.Length ?? 0, (other.Begin ?? 0) + (other.Length ?? 0)), true)
            : new FoundMap(map, isConfirmed);

        bool Fits(ArticleHead head) => head.Begin is { } begin && (between with { End = begin }).IsPossible;
    }

    private async Task<ArticleHead?> FetchLastAsync(Func<ArticleHead, bool> fits, CancellationToken cancellationToken)
    {
        var index = heads.Count - 1;
        return (await heads.ProveAsync(index, head => IsPlausible(head, index, heads.Count) && fits(head), cancellationToken)).Head;
    }

    // A piece from the middle of a longer file has no map.
    private async Task<FoundMap> FindSingleAsync(ArticleHead only, CancellationToken cancellationToken)
    {
        if (only.Begin > 0)
            return new FoundMap(null, false);
        if (only.End > only.Header?.FileSize)
            only = await ProveAsync(0, only, cancellationToken);
        only = await _counter.CompleteAsync(only, cancellationToken);
        return new FoundMap(SegmentMap.Uniform(1, only.Length ?? 0, only.Length ?? 0), true);
    }

    private static bool AreEqualParts(ArticleHead first, ArticleHead last, int count) => last.Begin is { } begin && begin == (count - 1) * first.Length;

    // If no provider has an intact copy, the doubtful copy is used.
    private async Task<ArticleHead> ProveAsync(int index, ArticleHead doubtful, CancellationToken cancellationToken)
    {
        var answer = await heads.ProveAsync(index, head => IsPlausible(head, index, heads.Count), cancellationToken);
        return answer.Head ?? doubtful;
    }

    /// <summary>Returns the map for the file length claimed by the first article; null if it does not fit the number of segments.</summary>
    public static SegmentMap? ByClaimedSize(int count, ArticleHead first)
    {
        if (first.Begin is null)
            return null;
        var partSize = first.Length ?? 0;
        var claimed = first.Header?.FileSize;
        return claimed > (count - 1) * partSize && claimed <= count * partSize ? Uniform(count, partSize, claimed.Value) : null;
    }

    private static SegmentMap? Uniform(int count, long partSize, long fileSize) =>
        fileSize - (count - 1) * partSize is >= 0 and <= SegmentMap.MaxSegmentLength ? SegmentMap.Uniform(count, partSize, fileSize) : null;

    private async Task<(SegmentMap? Map, bool IsConfirmed)> BisectAsync(ArticleHead first, ArticleHead last, CancellationToken cancellationToken)
    {
        var count = heads.Count;
        var partSize = first.Length ?? 0;
        var lengths = new long[count];
        lengths[0] = partSize;
        lengths[^1] = last.Length ?? 0;
        var bisector = new MapBisector(heads, options, range => range.TryFill(lengths, partSize));
        return await bisector.SettleAsync(lengths, [new SegmentRange(1, count - 1, first.End ?? 0, last.Begin ?? 0)], cancellationToken) is { } isConfirmed
            ? (SegmentMap.FromLengths(lengths), isConfirmed)
            : (null, false);
    }
}
