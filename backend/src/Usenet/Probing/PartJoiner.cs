namespace Sluice.Usenet.Probing;

/// <summary>A posted file to probe, with the indexes of its targets; −1 for a part missing in the NZB.</summary>
internal readonly record struct ListedFile(ProbeTarget Target, IReadOnlyList<int> Members);

/// <summary>
/// Joins targets that an NZB lists part by part, before any fetch: they share name and total but differ in number (IMP-17). After that, an archive volume is
/// one posted file, and its name is treated like any other. Pure.
/// </summary>
/// <remarks>In obfuscated posts all files may share one name, so numbers repeat or totals differ; then <see cref="SegmentJoiner"/> joins by headers.</remarks>
internal static class PartJoiner
{
    private const int MaxTotalPerListed = 20;

    /// <summary>Returns the files, each joined file at the position of its first target and with at most <paramref name="maxSegments"/> parts.</summary>
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

    // A lone first part may be a whole file whose subject counts something else.
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
        // If most parts are missing, the file is lost anyway. One hole per gap then suffices, so that a false total cannot exhaust memory.
        var longestGap = total <= MaxTotalPerListed * indexes.Length ? total : 1;
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
