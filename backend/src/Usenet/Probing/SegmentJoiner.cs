using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Usenet.Probing;

/// <summary>Joins one-segment files that are parts of one posted file: their headers name the same file and their ranges are consecutive. Pure.</summary>
internal static class SegmentJoiner
{
    /// <summary>Returns the files, each joined file at the position of its lowest target.</summary>
    public static IReadOnlyList<FileHead> Join(IReadOnlyList<FileHead> files, int maxSegments)
    {
        var groups = files.Where(IsPart).GroupBy(file => file.Header!.Value.Name, StringComparer.Ordinal).Where(group => group.Skip(1).Any());
        var joined = new Dictionary<FileHead, FileHead?>(ReferenceEqualityComparer.Instance);
        foreach (var group in groups)
        {
            if (JoinGroup([.. group], maxSegments) is not { } whole)
                continue;
            foreach (var part in group)
                joined[part] = null;
            joined[group.MinBy(part => part.Members[0])!] = whole;
        }

        return joined.Count == 0 ? files : [.. files.Select(file => joined.TryGetValue(file, out var whole) ? whole : file).OfType<FileHead>()];
    }

    // A single segment whose header places it in a longer file.
    private static bool IsPart(FileHead file) =>
        file is { State: HeadState.Found, Ids.Count: 1, Header: { HasPartLine: true, Begin: not null } header }
        && (header.Begin > 0 || header.Total > 1 || header.FileSize > header.End);

    private static FileHead? JoinGroup(FileHead[] parts, int maxSegments)
    {
        Array.Sort(parts, (left, right) => Order(left).CompareTo(Order(right)));
        if (parts[0].Header!.Value is not { Begin: 0 } first)
            return null;

        var partSize = first.PartLength ?? 0;
        var (members, lengths, ids) = (new List<int>(), new List<long>(), new List<ISegmentIds?>());
        var end = 0L;
        foreach (var part in parts)
        {
            var header = part.Header!.Value;

            // The same part was posted twice; keep the first copy.
            if (members.Count > 0 && header.End <= end)
                continue;

            // If parts are equal, unlisted parts and parts with a lost head can be counted.
            while (header.Begin > end && (header.Begin - end) % partSize == 0 && members.Count < maxSegments)
                Add(-1, partSize, null);
            if (header.Begin != end || members.Count == maxSegments)
                return null;
            Add(part.Members[0], header.PartLength ?? 0, part.Ids);
        }

        // Size or part count alone may be wrong. If both agree, the last parts are unlisted.
        var size = first.FileSize ?? 0;
        if (size > end && first.Total <= maxSegments && first.Total - members.Count == (size - end + partSize - 1) / partSize)
        {
            while (end < size)
                Add(-1, Math.Min(partSize, size - end), null);
        }

        return members.Count(member => member >= 0) < 2 ? null : parts[0] with
        {
            Members = members,
            Ids = new JoinedSegmentIds(ids),
            Map = SegmentMap.FromLengths(lengths),
            IsConfirmed = !members.Contains(-1) && size <= end,
            LastBytes = default,
            EncodedBytes = parts.Sum(part => part.EncodedBytes),
            AskedArticles = parts.Sum(part => part.AskedArticles),
            Habit = parts.Aggregate(default(ArticleHabit), (habit, part) => habit.And(part.Habit)),
        };

        void Add(int member, long length, ISegmentIds? segment)
        {
            members.Add(member);
            lengths.Add(length);
            ids.Add(segment);
            end += length;
        }
    }

    private static (long Begin, int Member) Order(FileHead part) => (part.Header!.Value.Begin ?? 0, part.Members[0]);
}

/// <summary>The ids of a file whose segments are listed as separate files; null for an unlisted segment. Thread-safe if its parts are.</summary>
internal sealed class JoinedSegmentIds(IReadOnlyList<ISegmentIds?> segments) : ISegmentIds
{
    public int Count => segments.Count;

    public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(index);
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(index, Count);
        return segments[index]?.GetAsync(0, cancellationToken) ?? new ValueTask<SegmentIds>(SegmentIds.None);
    }
}
