using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Probing;

/// <summary>Finds segment lengths between known offsets by fetching heads in the middle, unless <c>trySettle</c> can fill in a range.</summary>
internal sealed class MapBisector(SegmentHeads heads, ProbeOptions options, Func<SegmentRange, bool> trySettle)
{
    /// <summary>Fills in the <paramref name="lengths"/> of all ranges.</summary>
    /// <returns>Whether every fetched article agrees; null if too many heads would be needed.</returns>
    public async Task<bool?> SettleAsync(long[] lengths, List<SegmentRange> open, CancellationToken cancellationToken)
    {
        var confirmed = true;
        var budget = options.MaxBisected;
        while (open.Count > 0)
        {
            // All ranges of one depth are fetched in parallel, so latency grows with the depth and not with the number of deviations.
            var undecided = open.Where(range => !trySettle(range)).ToList();
            if ((budget -= undecided.Count) < 0)
                return null;

            var middles = await Task.WhenAll(undecided.Select(range => FindInsideAsync(range, cancellationToken)));
            open = [];
            for (var i = 0; i < undecided.Count; i++)
            {
                if (middles[i] is not { } middle)
                {
                    undecided[i].FillEvenly(lengths);
                    confirmed = false;
                    continue;
                }

                lengths[middle.Index] = middle.Head.Length ?? 0;
                open.Add(undecided[i] with { Limit = middle.Index, End = middle.Head.Begin ?? 0 });
                open.Add(undecided[i] with { First = middle.Index + 1, Begin = middle.Head.End ?? 0 });
            }
        }

        return confirmed;
    }

    // Returns the head of the middle segment, or of a neighbor if that head is missing or contradicts known offsets. If none arrives, the lengths are guessed,
    // because the layout of bytes that no provider has does not matter.
    private async Task<(int Index, ArticleHead Head)?> FindInsideAsync(SegmentRange range, CancellationToken cancellationToken)
    {
        var middle = range.First + range.Count / 2;
        foreach (var index in (int[])[middle, middle - 1, middle + 1, range.First, range.Limit - 1])
        {
            if (index < range.First || index >= range.Limit)
                continue;
            var answer = await heads.FetchAsync(
                index, head => MapFinder.IsPlausible(head, index, heads.Count) && range.CanHold(head, index), cancellationToken);
            if (answer.Head is { } head)
                return (index, head);
        }

        return null;
    }
}

/// <summary>Segments of unknown length from First to Limit, exclusive, that fill the bytes from Begin to End, exclusive.</summary>
internal readonly record struct SegmentRange(int First, int Limit, long Begin, long End)
{
    public int Count => Limit - First;

    /// <summary>Whether this number of segments can fill this number of bytes.</summary>
    public bool IsPossible => Bytes >= 0 && Bytes <= (long)Count * SegmentMap.MaxSegmentLength && (Count > 0 || Bytes == 0);

    private long Bytes => End - Begin;

    /// <summary>Fills in equal lengths if they fit, as they nearly always do.</summary>
    public bool TryFill(long[] lengths, long partSize)
    {
        if (Bytes != Count * partSize)
            return false;
        Array.Fill(lengths, partSize, First, Count);
        return true;
    }

    /// <summary>Fills in the lengths of an earlier map if it agrees with both ends of the range.</summary>
    public bool TryFill(long[] lengths, SegmentMap known)
    {
        if (Count > 0 && (known[First].Begin != Begin || known[Limit - 1].End != End))
            return false;
        for (var i = First; i < Limit; i++)
            lengths[i] = known[i].Length;
        return true;
    }

    /// <summary>Fills in guessed lengths if no provider has the articles.</summary>
    public void FillEvenly(long[] lengths)
    {
        for (var i = 0; i < Count; i++)
            lengths[First + i] = Bytes / Count + (i < Bytes % Count ? 1 : 0);
    }

    /// <summary>Whether an article can be the segment at an index and leaves a possible length on both sides.</summary>
    public bool CanHold(ArticleHead head, int index) =>
        head.Begin >= Begin && head.End <= End && new SegmentRange(First, index, Begin, head.Begin.Value).IsPossible
        && new SegmentRange(index + 1, Limit, head.End.Value, End).IsPossible;
}
