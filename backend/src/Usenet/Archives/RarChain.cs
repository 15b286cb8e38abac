namespace Sluice.Usenet.Archives;

/// <summary>Sorts the volumes of a release into archives by their headers, and orders each archive. Pure.</summary>
/// <remarks>
/// Volumes belong together if one continues a file that the other contains in part (IMP-50). In an archive of several files, a volume read whole links the file
/// that ends in it to the file that follows. Otherwise volumes are linked by number if only one archive has the preceding number. A set that begins mid-file or
/// with a number other than 0 could not be linked: read its volumes whole and sort again.
/// </remarks>
public static class RarChain
{
    /// <summary>Sorts volumes read to any depth.</summary>
    /// <param name="volumes">The volumes in fallback order: by name, by counter, or as in the NZB.</param>
    /// <returns>The sets, sorted by lowest index. Each set lists its volume indexes in order; each volume is in one set.</returns>
    public static IReadOnlyList<IReadOnlyList<int>> Sort(IReadOnlyList<RarVolume> volumes)
    {
        var sets = ByFiles(volumes);
        foreach (var set in sets)
            Order(set, volumes);
        LinkByNumbers(sets, volumes);
        return [.. sets.OrderBy(set => set.Min())];
    }

    /// <summary>Groups volumes that contain parts of the same file.</summary>
    private static HashSet<List<int>> ByFiles(IReadOnlyList<RarVolume> volumes)
    {
        var setOf = new Dictionary<RarIdentity, List<int>>();
        var sets = new HashSet<List<int>>();
        for (var index = 0; index < volumes.Count; index++)
        {
            var set = new List<int> { index };
            foreach (var identity in SharedFiles(volumes[index]))
            {
                if (setOf.TryGetValue(identity, out var other) && other != set)
                {
                    // Merge the shorter set into the longer one, so that no volume moves often.
                    var (from, to) = other.Count < set.Count ? (other, set) : (set, other);
                    to.AddRange(from);
                    foreach (var moved in from.SelectMany(member => SharedFiles(volumes[member])).Where(file => setOf.GetValueOrDefault(file) == from))
                        setOf[moved] = to;
                    sets.Remove(from);
                    set = to;
                }

                setOf[identity] = set;
            }

            if (set.Count == 1)
                sets.Add(set);
        }

        return sets;
    }

    /// <summary>Returns the files a volume shares with its neighbors: at most the first and the last.</summary>
    private static IEnumerable<RarIdentity> SharedFiles(RarVolume volume)
    {
        if (volume.Head is { IsSplitBefore: true } head)
            yield return head.Identity;
        if (volume.Tail is { } tail)
            yield return tail.Identity;
    }

    /// <summary>Orders a set by number if all volumes have one, otherwise from file to file.</summary>
    private static void Order(List<int> set, IReadOnlyList<RarVolume> volumes)
    {
        set.Sort();
        if (IsNumbered(set, volumes))
        {
            var byNumber = set.OrderBy(index => volumes[index].Number).ToList();
            set.Clear();
            set.AddRange(byNumber);
            return;
        }

        // Volumes by the file they continue: first the volumes filled by that file, then the volume in which it ends.
        var followers = set.Where(index => volumes[index].Head is { IsSplitBefore: true })
            .OrderBy(index => volumes[index].Tail?.Identity == volumes[index].Head!.Identity ? 0 : 1)
            .ThenBy(index => volumes[index].Number ?? 0)
            .GroupBy(index => volumes[index].Head!.Identity)
            .ToDictionary(group => group.Key, group => new Queue<int>(group));
        var ordered = set.Where(index => volumes[index].Head is not { IsSplitBefore: true }).OrderBy(index => volumes[index].IsFirst ? 0 : 1).ToList();
        for (var at = 0; at < ordered.Count; at++)
        {
            if (volumes[ordered[at]].Tail is { } tail && followers.TryGetValue(tail.Identity, out var queue) && queue.TryDequeue(out var next))
                ordered.Insert(at + 1, next);
        }

        ordered.AddRange(set.Except(ordered).ToList());
        set.Clear();
        set.AddRange(ordered);
    }

    /// <summary>Appends a set to the set that ends with the preceding number, if there is exactly one of each.</summary>
    private static void LinkByNumbers(HashSet<List<int>> sets, IReadOnlyList<RarVolume> volumes)
    {
        // Numbers ascend within and across sets, so linking cannot form a cycle.
        var numbered = sets.Where(set => IsNumbered(set, volumes)).ToList();
        var byLast = numbered.Where(set => volumes[set[^1]] is { IsVolume: true, Continues: not false })
            .ToLookup(set => (volumes[set[^1]].Format, volumes[set[^1]].HasEncryptedHeaders, volumes[set[^1]].Number + 1));
        var byFirst = numbered.Where(set => volumes[set[0]].Number > 0)
            .ToLookup(set => (volumes[set[0]].Format, volumes[set[0]].HasEncryptedHeaders, volumes[set[0]].Number));
        var next = new Dictionary<List<int>, List<int>>();
        foreach (var place in byFirst)
        {
            if (place.ToList() is [var follower] && byLast[place.Key].ToList() is [var leader] && leader != follower && MayFollow(volumes, leader, follower))
                next.Add(leader, follower);
        }

        sets.ExceptWith(next.Values.ToList());
        foreach (var set in sets)
        {
            for (var at = set; next.TryGetValue(at, out var follower); at = follower)
                set.AddRange(follower);
        }
    }

    private static bool IsNumbered(List<int> set, IReadOnlyList<RarVolume> volumes) => set.All(index => volumes[index].Number is not null);

    /// <summary>A volume that begins mid-file must continue the last file of the volume before, if that volume was read that far.</summary>
    private static bool MayFollow(IReadOnlyList<RarVolume> volumes, List<int> leader, List<int> follower)
    {
        var last = volumes[leader[^1]];
        var goesOn = volumes[follower[0]].Head is { IsSplitBefore: true };
        return !last.HasAllParts || (last.Tail is null && !goesOn);
    }
}
