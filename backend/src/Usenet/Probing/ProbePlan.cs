using Sluice.Usenet.Par2;

namespace Sluice.Usenet.Probing;

/// <summary>Which files of a release are asked for, by their names alone. Pure.</summary>
internal sealed class ProbePlan
{
    private const int Nobody = -1;

    private readonly string?[] _names;
    private readonly string?[] _sets;
    private readonly int[] _leaders;
    private readonly bool[] _par2;

    private ProbePlan(int count)
    {
        _names = new string?[count];
        _sets = new string?[count];
        _leaders = new int[count];
        _par2 = new bool[count];
    }

    /// <summary>Indexes of the files to ask for: all but the later volumes of named sets and, unless they are wanted, PAR2 files.</summary>
    public IReadOnlyList<int> Asked { get; private set; } = [];

    public static ProbePlan Make(IReadOnlyList<ProbeTarget> targets, bool includesPar2)
    {
        var plan = new ProbePlan(targets.Count);
        var firsts = new Dictionary<string, (int Number, int Index)>(StringComparer.Ordinal);
        for (var i = 0; i < targets.Count; i++)
        {
            plan._leaders[i] = Nobody;
            if (targets[i].Subject.FileName is not { } name)
                continue;

            plan._names[i] = name;
            plan._par2[i] = Par2Name.Parse(name) is not null;
            if (VolumeName.Parse(name) is not { } volume)
                continue;

            plan._sets[i] = volume.Set;
            if (!firsts.TryGetValue(volume.Set, out var first) || volume.Number < first.Number)
                firsts[volume.Set] = (volume.Number, i);
        }

        for (var i = 0; i < targets.Count; i++)
        {
            if (plan._sets[i] is { } set)
                plan._leaders[i] = firsts[set].Index;
        }

        plan.Asked =
        [
            .. Enumerable.Range(0, targets.Count)
                .Where(i => (includesPar2 || !plan._par2[i]) && (plan._leaders[i] == Nobody || plan._leaders[i] == i)),
        ];
        return plan;
    }

    /// <summary>PAR2 by its name.</summary>
    public bool IsPar2(int index) => _par2[index];

    /// <summary>The set that a file is a volume of by its name, or null.</summary>
    public string? SetOf(int index) => _sets[index];

    /// <summary>The first volume of the set of a file, which may be the file itself. Only for files that belong to a set.</summary>
    public int LeaderOf(int index) => _leaders[index];

    /// <summary>True when the name promises a file that is published as it is.</summary>
    public bool IsPlain(int index) => _sets[index] is null && _names[index] is { } name && !NameJudge.IsObfuscated(name);
}
