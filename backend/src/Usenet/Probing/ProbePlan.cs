using System.Globalization;

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
            plan._par2[i] = name.EndsWith(".par2", StringComparison.OrdinalIgnoreCase);
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

/// <summary>What the name of one volume of an archive or split file says by custom.</summary>
/// <param name="Set">The name of the set in lower case, with the kind of its volumes: equal for all volumes of one set.</param>
/// <param name="Number">Order of the volume in its set; the first is the lowest there is.</param>
internal readonly record struct VolumeName(string Set, int Number)
{
    /// <summary>
    /// Recognises <c>.partNN.rar</c>, <c>.rar</c>, <c>.rNN</c> to <c>.zNN</c>, <c>.7z</c>, <c>.zip</c>, <c>.zNN</c> and
    /// <c>.NNN</c>, with or without the extension of an archive before the number.
    /// </summary>
    public static VolumeName? Parse(string name)
    {
        var dot = name.LastIndexOf('.');
        if (dot < 1)
            return null;

        var stem = name[..dot].ToLowerInvariant();
        var extension = name[(dot + 1)..].ToLowerInvariant();
        return extension switch
        {
            "rar" => Numbered(stem) ?? new VolumeName(stem + "|rar", -1),
            "7z" => new VolumeName(stem + "|7z", 0),
            "zip" => new VolumeName(stem + "|zip", int.MaxValue),
            [>= 'r' and <= 'y', _, _] when Digits(extension[1..]) is { } number =>
                new VolumeName(stem + "|rar", (extension[0] - 'r') * 100 + number),
            ['z', _, _] when Digits(extension[1..]) is { } number => new VolumeName(stem + "|zip", number),
            [_, _, _] when Digits(extension) is { } number => new VolumeName(stem + "|split", number),
            _ => null,
        };
    }

    // stem.part07 of stem.part07.rar
    private static VolumeName? Numbered(string stem)
    {
        var part = stem.LastIndexOf(".part", StringComparison.Ordinal);
        return part > 0 && Digits(stem[(part + 5)..]) is { } number ? new VolumeName(stem[..part] + "|part", number) : null;
    }

    private static int? Digits(string text) =>
        text.Length is > 0 and <= 5 && int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : null;
}
