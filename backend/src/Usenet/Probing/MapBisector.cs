using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Probing;

/// <summary>Finds the lengths of the segments between articles whose places are known, by asking for the heads in the middle.</summary>
/// <param name="heads">Of the file.</param>
/// <param name="options">How many may be asked for.</param>
/// <param name="trySettle">Settles the lengths of a stretch that needs no further head; false for any other.</param>
internal sealed class MapBisector(SegmentHeads heads, ProbeOptions options, Func<Stretch, bool> trySettle)
{
    /// <summary>Settles all stretches.</summary>
    /// <param name="lengths">Where the lengths go.</param>
    /// <param name="open">The stretches, all of them possible.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns>Whether every article that was asked for agrees; null when too many had to be asked for.</returns>
    public async Task<bool?> SettleAsync(long[] lengths, List<Stretch> open, CancellationToken cancellationToken)
    {
        var confirmed = true;
        var budget = options.MaxBisected;
        while (open.Count > 0)
        {
            // All stretches of one depth are asked about together, so the depth counts and not the number of deviations.
            var undecided = open.Where(stretch => !trySettle(stretch)).ToList();
            if ((budget -= undecided.Count) < 0)
                return null;

            var middles = await Task.WhenAll(undecided.Select(stretch => FindInsideAsync(stretch, cancellationToken)));
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

    // The head of a segment near the middle; its neighbours stand in for one that is gone or contradicts the known places.
    // If none arrives the lengths are guessed: where bytes lie that no provider has makes no difference.
    private async Task<(int Index, ArticleHead Head)?> FindInsideAsync(Stretch stretch, CancellationToken cancellationToken)
    {
        var middle = stretch.First + stretch.Count / 2;
        foreach (var index in (int[])[middle, middle - 1, middle + 1, stretch.First, stretch.Limit - 1])
        {
            if (index < stretch.First || index >= stretch.Limit)
                continue;
            var answer = await heads.FetchAsync(
                index, head => MapFinder.IsPlausible(head, index, heads.Count) && stretch.Holds(head, index), cancellationToken);
            if (answer.Head is { } head)
                return (index, head);
        }

        return null;
    }
}

/// <summary>Segments whose lengths are open, from First to before Limit, in the bytes from Begin to before End.</summary>
internal readonly record struct Stretch(int First, int Limit, long Begin, long End)
{
    /// <summary>Number of segments.</summary>
    public int Count => Limit - First;

    /// <summary>Whether so many segments can have so many bytes.</summary>
    public bool IsPossible => Bytes >= 0 && Bytes <= (long)Count * SegmentMap.MaxSegmentLength && (Count > 0 || Bytes == 0);

    private long Bytes => End - Begin;

    /// <summary>Settles the lengths where they are those of the first segment, as nearly always.</summary>
    public bool TryFill(long[] lengths, long partSize)
    {
        if (Bytes != Count * partSize)
            return false;
        Array.Fill(lengths, partSize, First, Count);
        return true;
    }

    /// <summary>Settles the lengths where a map that was believed so far has the stretch at its place.</summary>
    public bool TryFill(long[] lengths, SegmentMap known)
    {
        if (Count > 0 && (known[First].Begin != Begin || known[Limit - 1].End != End))
            return false;
        for (var i = First; i < Limit; i++)
            lengths[i] = known[i].Length;
        return true;
    }

    /// <summary>Settles the lengths by a guess, where no provider has the articles and so the bytes.</summary>
    public void FillEvenly(long[] lengths)
    {
        for (var i = 0; i < Count; i++)
            lengths[First + i] = Bytes / Count + (i < Bytes % Count ? 1 : 0);
    }

    /// <summary>Whether an article fits in as the segment of an index, and leaves room for the others on both sides.</summary>
    public bool Holds(ArticleHead head, int index) =>
        head.Begin >= Begin && head.End <= End && new Stretch(First, index, Begin, head.Begin.Value).IsPossible
        && new Stretch(index + 1, Limit, head.End.Value, End).IsPossible;
}
