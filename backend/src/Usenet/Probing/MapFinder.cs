using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Probing;

/// <summary>What the articles of a posted file say about where its segments begin.</summary>
/// <param name="Map">The map; null when they say too little.</param>
/// <param name="IsConfirmed">Whether every article that was asked for agrees with it.</param>
internal readonly record struct FoundMap(SegmentMap? Map, bool IsConfirmed)
{
    /// <summary>No map, because all articles would have to be fetched and are too many or too long.</summary>
    public static FoundMap TooLong => new(null, false) { IsTooLong = true };

    /// <summary>Whether there is no map because the file is too long to be counted.</summary>
    public bool IsTooLong { get; private init; }

    /// <summary>Articles between the first and the last that were asked for because their lengths are needed.</summary>
    public int Counted { get; init; }

    /// <summary>How many of these are gone everywhere, where there is no map without them.</summary>
    public int Missing { get; init; }
}

/// <summary>
/// Finds out where the segments of a posted file begin: equal parts when first and last article say so, else by bisecting
/// over the headers between them until every deviation is found.
/// </summary>
/// <param name="heads">Of the file.</param>
/// <param name="options">How many may be asked for.</param>
/// <param name="counted">Called after each article that is fetched whole; null when the caller needs no progress.</param>
internal sealed class MapFinder(SegmentHeads heads, ProbeOptions options, Action? counted = null)
{
    private readonly ArticleCounter _counter = new(heads, options, counted);

    /// <summary>Whether an article can be the segment of an index, by part number and range.</summary>
    /// <remarks>Total, size and name lie in honest posts as well and say nothing.</remarks>
    public static bool IsPlausible(ArticleHead head, int index, int count)
    {
        if (head.Length is not { } length || length < 0 || length > SegmentMap.MaxSegmentLength)
            return false;

        // A file of one segment may be a part of a file that is listed in pieces.
        if (count == 1)
            return true;
        if (head.Header?.Part is { } part && part != index + 1)
            return false;
        return head.Begin is not { } begin || (index == 0 ? begin == 0 : begin > 0 && begin <= (long)index * SegmentMap.MaxSegmentLength);
    }

    /// <summary>The map, and whether every article that was asked for agrees with it; no map when they say too little.</summary>
    public async Task<FoundMap> FindAsync(ArticleHead first, ArticleHead? last, CancellationToken cancellationToken)
    {
        var count = heads.Count;
        if (count == 1)
            return await FindSingleAsync(first, cancellationToken);
        if (last is null)
            return new FoundMap(ByClaimedSize(count, first), false);
        if (first.Begin is null && last.Begin is null)
            return await _counter.CountAsync(first, last, cancellationToken);

        // Where the headers disagree one of them may lie, and the data of its article shows it.
        if (!IsNext(first, last, count))
            (first, last) = (await ProveAsync(0, first, cancellationToken), await ProveAsync(count - 1, last, cancellationToken));
        else if (last.End != first.Header?.FileSize)
            last = await ProveAsync(count - 1, last, cancellationToken);
        if (IsNext(first, last, count))
            return new FoundMap(Uniform(count, first.Length ?? 0, (last.Begin ?? 0) + (last.Length ?? 0)), true);

        // Where one of them has no range and the other does not fit, the order of the NZB is all there is.
        if (first.Begin is null || last.Begin is null)
            return new FoundMap(Uniform(count, first.Length ?? 0, (count - 1) * (first.Length ?? 0) + (last.Length ?? 0)), false);

        // An article from another file can carry the right number; where its range cannot be, another copy is asked for.
        var between = new Stretch(1, count - 1, first.End ?? 0, long.MaxValue);
        if (!Fits(last))
            last = await FetchLastAsync(Fits, cancellationToken);
        if (last is null)
            return new FoundMap(ByClaimedSize(count, first), false);

        // Ranges that contradict each other are a lie somewhere; a copy of the last article that agrees with the first one ends it.
        var (map, isConfirmed) = await BisectAsync(first, last, cancellationToken);
        return !isConfirmed && await FetchLastAsync(head => IsNext(first, head, count), cancellationToken) is { } other
            ? new FoundMap(Uniform(count, first.Length ?? 0, (other.Begin ?? 0) + (other.Length ?? 0)), true)
            : new FoundMap(map, isConfirmed);

        bool Fits(ArticleHead head) => head.Begin is { } begin && (between with { End = begin }).IsPossible;
    }

    private async Task<ArticleHead?> FetchLastAsync(Func<ArticleHead, bool> fits, CancellationToken cancellationToken)
    {
        var index = heads.Count - 1;
        return (await heads.ProveAsync(index, head => IsPlausible(head, index, heads.Count) && fits(head), cancellationToken)).Head;
    }

    // A piece of a longer file is at home in no map of its own.
    private async Task<FoundMap> FindSingleAsync(ArticleHead only, CancellationToken cancellationToken)
    {
        if (only.Begin > 0)
            return new FoundMap(null, false);
        if (only.End > only.Header?.FileSize)
            only = await ProveAsync(0, only, cancellationToken);
        only = await _counter.CompleteAsync(only, cancellationToken);
        return new FoundMap(SegmentMap.Uniform(1, only.Length ?? 0, only.Length ?? 0), true);
    }

    private static bool IsNext(ArticleHead first, ArticleHead last, int count) => last.Begin is { } begin && begin == (count - 1) * first.Length;

    // What cannot be proved at any provider is used as it is.
    private async Task<ArticleHead> ProveAsync(int index, ArticleHead doubtful, CancellationToken cancellationToken)
    {
        var answer = await heads.ProveAsync(index, head => IsPlausible(head, index, heads.Count), cancellationToken);
        return answer.Head ?? doubtful;
    }

    /// <summary>The map by the length that the first article claims for the file; null where that does not fit the number of segments.</summary>
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
        var bisector = new MapBisector(heads, options, stretch => stretch.TryFill(lengths, partSize));
        return await bisector.SettleAsync(lengths, [new Stretch(1, count - 1, first.End ?? 0, last.Begin ?? 0)], cancellationToken) is { } isConfirmed
            ? (SegmentMap.FromLengths(lengths), isConfirmed)
            : (null, false);
    }
}
