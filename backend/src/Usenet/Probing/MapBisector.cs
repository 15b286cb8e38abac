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

    // The head of a segment near the middle; its neighbours stand in for one that is gone or contradicts what is known. None
    // is needed in the end, because bytes that nobody has can lie anywhere.
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
