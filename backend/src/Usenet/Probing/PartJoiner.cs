namespace Sluice.Usenet.Probing;

/// <summary>A posted file as it is probed.</summary>
/// <param name="Target">What is probed.</param>
/// <param name="Members">Indexes of the targets that it is made of; −1 for a part that the NZB does not list.</param>
internal readonly record struct ListedFile(ProbeTarget Target, IReadOnlyList<int> Members);

/// <summary>
/// Joins targets that an NZB lists part by part, before anything is asked for: they have one name, one total, and each another number (IMP-17).
/// Then a volume of an archive is one posted file, and its name counts as that of any other. Pure.
/// </summary>
/// <remarks>
/// Obfuscated posts have one name for all their files, so that a number comes twice or totals differ: those are left to <see cref="SegmentJoiner"/>,
/// which goes by the headers of the articles.
/// </remarks>
internal static class PartJoiner
{
    private const int MostPerListed = 20;

    /// <summary>The files, with each joined one at the place of its first target.</summary>
    /// <param name="targets">The files as the NZB lists them.</param>
    /// <param name="maxSegments">Most parts of one file.</param>
    public static IReadOnlyList<ListedFile> Join(IReadOnlyList<ProbeTarget> targets, int maxSegments)
    {
        var groups = Enumerable.Range(0, targets.Count)
            .Where(index => targets[index].Subject.FileName is not null)
            .GroupBy(index => targets[index].Subject.FileName!, StringComparer.Ordinal);
        var joined = new ListedFile?[targets.Count];
        var isTaken = new bool[targets.Count];
        foreach (var group in groups)
        {
            int[] indexes = [.. group];
            if (!AreParts(indexes, targets, maxSegments))
                continue;
            joined[indexes[0]] = JoinParts(indexes, targets);
            foreach (var index in indexes)
                isTaken[index] = true;
        }

        return
        [
            .. Enumerable.Range(0, targets.Count)
                .Where(index => joined[index] is not null || !isTaken[index])
                .Select(index => joined[index] ?? new ListedFile(targets[index], [index])),
        ];
    }

    // A first part alone may be a whole file whose subject counts something else.
    private static bool AreParts(int[] indexes, IReadOnlyList<ProbeTarget> targets, int maxSegments)
    {
        var total = targets[indexes[0]].Subject.Segments;
        return total <= maxSegments
            && Array.TrueForAll(indexes, index => targets[index].Part > 0 && targets[index].Subject.Segments == total)
            && indexes.DistinctBy(index => targets[index].Part).Count() == indexes.Length
            && (indexes.Length > 1 || targets[indexes[0]].Part > 1);
    }

    private static ListedFile JoinParts(int[] indexes, IReadOnlyList<ProbeTarget> targets)
    {
        var total = targets[indexes[0]].Subject.Segments;
        // A file of which hardly anything is listed is lost, and one hole for each gap says so: a total that an NZB claims takes no memory.
        var longestGap = total <= MostPerListed * indexes.Length ? total : 1;
        var members = new List<int>();
        var next = 1;
        foreach (var index in indexes.OrderBy(index => targets[index].Part))
        {
            AddGap(targets[index].Part);
            members.Add(index);
            next = targets[index].Part + 1;
        }

        AddGap(total + 1);
        var first = targets[members.First(member => member >= 0)];
        return new ListedFile(
            first with
            {
                Ids = new JoinedSegmentIds([.. members.Select(member => member < 0 ? null : targets[member].Ids)]),
                EncodedBytes = indexes.Sum(index => targets[index].EncodedBytes),
                Part = 0,
            },
            members);

        void AddGap(int end) => members.AddRange(Enumerable.Repeat(-1, Math.Min(end - next, longestGap)));
    }
}
