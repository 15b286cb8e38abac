namespace Sluice.Usenet.Archives;

/// <summary>Sorts the volumes of a release into archives by what their headers say, and puts each archive in order. Pure.</summary>
/// <remarks>
/// Volumes belong together where one goes on with the file that another one holds a part of (IMP-50). Where an archive holds several files, its
/// volumes begin with different ones: they are linked by a volume that was read whole, in which one file ends and the next one begins, or by
/// their numbers, where only one archive has the number before. What neither links stays apart, and a set that begins in the middle of a file or
/// with a number other than 0 is a sign of it: when its volumes have been read whole, it is asked once more.
/// </remarks>
public static class RarChain
{
    /// <summary>Sorts volumes.</summary>
    /// <param name="volumes">
    /// The volumes in the order that is taken where nothing in them tells: that of their names, of a counter or of the document. Read to any depth.
    /// </param>
    /// <returns>The sets by the indexes of their volumes in order, each volume in one set; sets in the order of their lowest index.</returns>
    public static IReadOnlyList<IReadOnlyList<int>> Sort(IReadOnlyList<RarVolume> volumes)
    {
        var sets = ByFiles(volumes);
        foreach (var set in sets)
            Order(set, volumes);
        LinkByNumbers(sets, volumes);
        return [.. sets.OrderBy(set => set.Min())];
    }

    /// <summary>Puts volumes together that hold parts of one file.</summary>
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
                    // The shorter one moves into the longer one, so that no volume moves often.
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

    /// <summary>Files that a volume shares with its neighbours: at most the first one and the last one.</summary>
    private static IEnumerable<RarIdentity> SharedFiles(RarVolume volume)
    {
        if (volume.Head is { IsSplitBefore: true } head)
            yield return head.Identity;
        if (volume.Tail is { } tail)
            yield return tail.Identity;
    }

    /// <summary>Orders a set by numbers where all volumes have one, else from file to file.</summary>
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

        // By the file that a volume goes on with: first those that hold nothing else, then the one in which it ends.
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

    /// <summary>Appends sets to the one that ends with the number before theirs, where there is one alone for each.</summary>
    private static void LinkByNumbers(HashSet<List<int>> sets, IReadOnlyList<RarVolume> volumes)
    {
        // Numbers that rise within each set rise from set to set, so that no chain closes.
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

    /// <summary>What goes on in the middle of a file has to be the file that the volume before leaves off with, as far as that was read.</summary>
    private static bool MayFollow(IReadOnlyList<RarVolume> volumes, List<int> leader, List<int> follower)
    {
        var last = volumes[leader[^1]];
        var goesOn = volumes[follower[0]].Head is { IsSplitBefore: true };
        return !last.HasAllParts || (last.Tail is null && !goesOn);
    }
}
