using Sluice.Usenet.Par2;

namespace Sluice.Usenet.Probing;

/// <summary>How much of a posted file is asked for.</summary>
internal enum ProbeDepth
{
    /// <summary>Nothing.</summary>
    Nothing,

    /// <summary>Its first article, and its last one only where the first does not tell how long the file is: a volume whose neighbours confirm it.</summary>
    Head,

    /// <summary>Its first article, and what that makes worth asking for: its name tells nothing.</summary>
    ByKind,

    /// <summary>First and last article at once.</summary>
    Ends,
}

/// <summary>Which files of a release are asked for, by their names alone (IMP-20, IMP-21). Pure.</summary>
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

    /// <summary>Indexes of the files to ask for: of named sets the first, second and last volume, of PAR2 sets the index.</summary>
    public IReadOnlyList<int> Asked { get; private set; } = [];

    /// <summary>Whether heads are needed to the length that PAR2 has checksums of: an index may be among the files.</summary>
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

    /// <summary>PAR2 by its name.</summary>
    public bool IsPar2(int index) => _par2[index];

    /// <summary>The set that a file is a volume of by its name, or null.</summary>
    public string? SetOf(int index) => _sets[index];

    /// <summary>The first volume of the set of a file, which may be the file itself.</summary>
    public int LeaderOf(int index) => _leaders[index];

    /// <summary>How much of a file is asked for.</summary>
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
        // Where several have one name their order is not known, and perhaps not even that they are one set.
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
