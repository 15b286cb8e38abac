using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;

namespace Sluice.Usenet.Archives;

/// <summary>The presumed kind of a group of candidates, until it is read.</summary>
internal enum VolumeGroupKind
{
    /// <summary>One file, published unchanged.</summary>
    Plain,

    /// <summary>RAR volumes of one or more archives, distinguished by their headers.</summary>
    Rar,

    /// <summary>A whole 7z, zip or tar, or the pieces of any file in the order of their names.</summary>
    Joined,

    /// <summary>Pieces of 7z archives without usable names, and perhaps other files, distinguished by their lengths.</summary>
    Unnamed,
}

/// <summary>Candidates to read together.</summary>
/// <param name="Members">Candidate indexes in fallback order, used if headers do not give the order.</param>
/// <param name="IsNamed">Whether the names show that the members are one ordered set.</param>
/// <param name="NeedsProof">Whether the order is a guess, from subject counters or the order in the NZB (IMP-51).</param>
internal sealed record VolumeGroup(VolumeGroupKind Kind, IReadOnlyList<int> Members, bool IsNamed, bool NeedsProof)
{
    /// <summary>Number of missing volumes according to the numbers in the names.</summary>
    public int Missing { get; init; }
}

/// <summary>Groups the candidates of a release or an archive by their kinds and names (IMP-50). Pure.</summary>
/// <remarks>Names only select which candidates to read together; headers, if any, decide membership and order.</remarks>
internal static class VolumeGrouper
{
    /// <summary>Groups all candidates except PAR2 files.</summary>
    public static IReadOnlyList<VolumeGroup> Group(IReadOnlyList<VolumeCandidate> candidates)
    {
        var groups = new List<VolumeGroup>();
        var rar = new List<VolumeCandidate>();
        var unnamed = new List<VolumeCandidate>();
        var named = new List<VolumeCandidate>();
        foreach (var candidate in candidates.Where(candidate => candidate.Kind != MediaKind.Par2))
        {
            if (NameJudge.IsPlain(candidate.Name))
                groups.Add(Plain(candidate));
            else if (candidate.Volume is not null)
                named.Add(candidate);
            else
                AddUnnamed(candidate);
        }

        foreach (var set in named.GroupBy(candidate => candidate.Volume!.Value.Set, StringComparer.Ordinal))
        {
            if (set.DistinctBy(candidate => candidate.Volume!.Value.Number).Count() == set.Count())
                groups.Add(Named([.. set.OrderBy(candidate => candidate.Volume!.Value.Number)]));
            else
                set.ToList().ForEach(AddUnnamed);
        }

        if (rar.Count > 0)
            groups.Add(Unordered(VolumeGroupKind.Rar, rar));
        if (unnamed.Exists(candidate => candidate.Kind == MediaKind.SevenZip))
            groups.Add(Unordered(VolumeGroupKind.Unnamed, unnamed));
        else
            groups.AddRange(unnamed.Select(Plain));
        return [.. groups.OrderBy(group => group.Members.Min())];

        void AddUnnamed(VolumeCandidate candidate)
        {
            if (candidate.Kind is MediaKind.Rar4 or MediaKind.Rar5)
                rar.Add(candidate);
            else if (candidate.Kind is MediaKind.SevenZip || (candidate.Kind == MediaKind.Unknown && NameJudge.IsObfuscated(candidate.Name ?? "")))
                unnamed.Add(candidate);
            else
                groups.Add(candidate.Kind is MediaKind.Zip or MediaKind.Tar or MediaKind.Gzip ? Whole(candidate) : Plain(candidate));
        }
    }

    private static VolumeGroup Plain(VolumeCandidate candidate) => new(VolumeGroupKind.Plain, [candidate.Index], IsNamed: true, NeedsProof: false);

    private static VolumeGroup Whole(VolumeCandidate candidate) => new(VolumeGroupKind.Joined, [candidate.Index], IsNamed: true, NeedsProof: false);

    private static VolumeGroup Named(IReadOnlyList<VolumeCandidate> set)
    {
        var first = set[0];
        var isArchive = MediaSignature.CategoryOf(first.Kind) == MediaCategory.Archive;
        if (set.Count == 1 && !isArchive && first is { IsReadable: true, Kind: not MediaKind.Unknown })
            return Plain(first);

        // If a RAR was split into .001, .002, only the first piece has a RAR signature. Real RAR volumes with such names all have one.
        var isRar = first.Kind is MediaKind.Rar4 or MediaKind.Rar5
            ? set.Count == 1 || first.Volume!.Value.Naming != VolumeNaming.Numbers || set[1].Kind is MediaKind.Rar4 or MediaKind.Rar5
            : !isArchive && first.Volume!.Value.Format == VolumeFormat.Rar && first.Volume.Value.Naming != VolumeNaming.Numbers;
        return new VolumeGroup(isRar ? VolumeGroupKind.Rar : VolumeGroupKind.Joined, Indexes(set), IsNamed: true, NeedsProof: false) { Missing = Missing(set) };
    }

    /// <summary>Counts missing volumes before and between the known ones; the last piece of a split zip has no number.</summary>
    private static int Missing(IReadOnlyList<VolumeCandidate> set)
    {
        var numbers = set.Select(candidate => candidate.Volume!.Value.Number).Where(number => number < int.MaxValue).ToList();
        return numbers.Count == 0 ? 0 : numbers[^1] - Math.Min(numbers[0], 0) + 1 - numbers.Count;
    }

    /// <summary>Orders members by loosely parsed names, then by subject counters, then by their order in the NZB.</summary>
    private static VolumeGroup Unordered(VolumeGroupKind kind, List<VolumeCandidate> members)
    {
        var loose = members.Select(member => (Member: member, Name: member.Volume ?? VolumeName.ParseLoose(member.Name))).ToList();
        if (loose.TrueForAll(pair => pair.Name is not null) && loose.DistinctBy(pair => (pair.Name!.Value.Set, pair.Name.Value.Number)).Count() == loose.Count)
        {
            return new VolumeGroup(
                kind,
                [.. loose.OrderBy(pair => pair.Name!.Value.Set, StringComparer.Ordinal).ThenBy(pair => pair.Name!.Value.Number).Select(pair => pair.Member.Index)],
                IsNamed: false,
                NeedsProof: false);
        }

        var counters = members.Select(member => member.Counter).ToList();
        var areCounted = counters.Min() > 0 && counters.Distinct().Count() == counters.Count && counters.Max() - counters.Min() + 1 == counters.Count;
        return new VolumeGroup(kind, Indexes(areCounted ? [.. members.OrderBy(member => member.Counter)] : members), IsNamed: false, NeedsProof: true);
    }

    private static List<int> Indexes(IReadOnlyList<VolumeCandidate> members) => [.. members.Select(member => member.Index)];
}
