using Sluice.Usenet.Par2;

namespace Sluice.Usenet.Probing;

/// <summary>How much of a posted file to fetch.</summary>
internal enum ProbeDepth
{
    Nothing,

    /// <summary>The first article, and the last only if the first does not give the file length: a volume confirmed by its neighbors.</summary>
    Head,

    /// <summary>The first article, then more depending on the kind, because the name reveals nothing.</summary>
    ByKind,

    /// <summary>First and last article in parallel.</summary>
    Ends,
}

/// <summary>Decides by names alone which files of a release to fetch (IMP-20, IMP-21). Pure.</summary>
internal sealed class ProbePlan
{
    private readonly string?[] _sets;
    private readonly int[] _leaders;
    private readonly bool[] _par2;
    private readonly ProbeDepth[] _depths;

    private ProbePlan(int count)
    {
        _sets = new string?[count];
        _leaders = [.. Enumerable.Range(0, count)];
        _par2 = new bool[count];
        _depths = new ProbeDepth[count];
    }

    /// <summary>Indexes of the files to fetch: first, second and last volume of named sets, the index of PAR2 sets, and all other files.</summary>
    public IReadOnlyList<int> Asked { get; private set; } = [];

    /// <summary>Whether heads must be long enough for PAR2 checksums, because an index may be among the files.</summary>
    public bool NeedsLongHeads { get; private set; }

    public static ProbePlan Make(IReadOnlyList<ProbeTarget> targets, bool includesPar2)
    {
        var plan = new ProbePlan(targets.Count);
        plan.PlanPar2(targets, includesPar2);
        var volumes = new List<(int Index, VolumeName Name)>();
        for (var i = 0; i < targets.Count; i++)
        {
            var name = targets[i].Subject.FileName;
            if (plan._par2[i])
                continue;
            if (VolumeName.Parse(name) is { } volume)
                volumes.Add((i, volume));
            else
                plan._depths[i] = name is not null && !NameJudge.IsObfuscated(name) ? ProbeDepth.Ends : ProbeDepth.ByKind;
        }

        foreach (var set in volumes.GroupBy(volume => volume.Name.Set, StringComparer.Ordinal))
            plan.PlanSet(set.Key, [.. set.OrderBy(volume => volume.Name.Number)]);

        plan.Asked = [.. Enumerable.Range(0, targets.Count).Where(i => plan._depths[i] != ProbeDepth.Nothing)];
        plan.NeedsLongHeads = plan._par2.Contains(true) || plan._depths.Contains(ProbeDepth.ByKind);
        return plan;
    }

    public bool IsPar2(int index) => _par2[index];

    /// <summary>Returns the set that a file belongs to according to its name; null if none.</summary>
    public string? SetOf(int index) => _sets[index];

    /// <summary>Returns the first volume of a file's set, which may be the file itself.</summary>
    public int LeaderOf(int index) => _leaders[index];

    public ProbeDepth DepthOf(int index) => _depths[index];

    private void PlanPar2(IReadOnlyList<ProbeTarget> targets, bool includesPar2)
    {
        var files = Enumerable.Range(0, targets.Count).Where(i => Par2Name.Parse(targets[i].Subject.FileName) is not null).ToList();
        foreach (var i in files)
            (_par2[i], _depths[i]) = (true, includesPar2 ? ProbeDepth.Ends : ProbeDepth.Nothing);
        foreach (var index in Par2Name.Indexes([.. files.Select(i => new PostedPar2(targets[i].Subject.FileName, null, targets[i].EncodedBytes))]))
            _depths[files[index]] = ProbeDepth.Ends;
    }

    private void PlanSet(string set, IReadOnlyList<(int Index, VolumeName Name)> volumes)
    {
        // If names repeat, the order is unknown, and the files may not even be one set.
        var isOrdered = volumes.DistinctBy(volume => volume.Name.Number).Count() == volumes.Count;
        for (var i = 0; i < volumes.Count; i++)
        {
            var index = volumes[i].Index;
            if (isOrdered)
                (_sets[index], _leaders[index]) = (set, volumes[0].Index);
            _depths[index] = !isOrdered ? ProbeDepth.ByKind
                : i == volumes.Count - 1 ? ProbeDepth.Ends
                : i < 2 ? ProbeDepth.Head
                : ProbeDepth.Nothing;
        }
    }
}
