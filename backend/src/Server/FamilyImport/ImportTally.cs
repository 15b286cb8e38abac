namespace Sluice.Server.FamilyImport;

internal enum ImportKind
{
    Settings,

    Logins,

    Files,

    History,

    Queue,

    /// <summary>NZBs stored by the old server.</summary>
    Nzbs,
}

/// <summary>The counts of one kind. After the import or its rehearsal, found equals taken plus left.</summary>
internal sealed record ImportCount(ImportKind Kind, int Found, int Taken, int Left);

/// <summary>A skipped item, with the reason as part of a sentence.</summary>
internal sealed record LeftThing(ImportKind Kind, string Name, string Reason);

/// <summary>The result of an import.</summary>
/// <param name="Counts">One entry per kind.</param>
/// <param name="Left">Skipped items, up to a limit.</param>
/// <param name="Notes">One sentence per converted value, up to a limit.</param>
/// <param name="Kept">Unknown keys, kept without effect.</param>
internal sealed record ImportReport(
    IReadOnlyList<ImportCount> Counts,
    IReadOnlyList<LeftThing> Left,
    int LeftTotal,
    IReadOnlyList<string> Notes,
    int NotesTotal,
    IReadOnlyList<string> Kept)
{
    public static ImportReport Nothing { get; } = new([], [], 0, [], 0, []);

    /// <summary>Returns the initial report of an import: the totals of its rehearsal, with nothing taken yet.</summary>
    public ImportReport Begin() => Nothing with { Counts = [.. Counts.Select(count => count with { Taken = 0, Left = 0 })] };

    /// <summary>Returns the report plus the files refused after the import had listed them.</summary>
    public ImportReport With(IReadOnlyList<LeftThing> refused) => refused.Count == 0 ? this : this with
    {
        Counts = [.. Counts.Select(count => count.Kind == ImportKind.Files ? count with { Taken = count.Taken - refused.Count, Left = count.Left + refused.Count } : count)],
        Left = [.. Left, .. refused],
        LeftTotal = LeftTotal + refused.Count,
    };

    /// <summary>Returns the report without these formerly skipped files, because the library lists them now.</summary>
    public ImportReport Without(IReadOnlySet<string> listed) => listed.Count == 0 ? this : this with
    {
        Counts = [.. Counts.Select(count => count.Kind == ImportKind.Files ? count with { Taken = count.Taken + listed.Count, Left = count.Left - listed.Count } : count)],
        Left = [.. Left.Where(left => left.Kind != ImportKind.Files || left.Reason != ImportTally.FormerReason || !listed.Contains(left.Name))],
        LeftTotal = LeftTotal - listed.Count,
    };
}

/// <summary>Counts the results of an import or its rehearsal. Thread-safe, because the UI reads the counts while they change.</summary>
internal sealed class ImportTally
{
    // Limits the report, because a person must be able to read it and a database row must hold it.
    private const int MostListed = 1000;
    private const int MostText = 300;

    /// <summary>The reason for which earlier versions skipped files. Such files are listed in the library now.</summary>
    public const string FormerReason = "the old server had not looked into all of its volumes yet; add its NZB again";

    /// <summary>Returns a file's name in the report.</summary>
    public static string NameOf(FamilyRelease release, IReadOnlyList<string> names) => Shorten($"{release.Category}/{release.Name}/{string.Join('/', names)}");

    private readonly Lock _gate = new();
    private readonly int[] _expected = new int[Enum.GetValues<ImportKind>().Length];
    private readonly int[] _taken = new int[Enum.GetValues<ImportKind>().Length];
    private readonly int[] _left = new int[Enum.GetValues<ImportKind>().Length];
    private readonly List<LeftThing> _things = [];
    private readonly List<string> _notes = [];
    private readonly List<string> _kept = [];
    private int _notesTotal;

    /// <summary>Shows a total known in advance until <see cref="Complete"/>.</summary>
    public void Expect(ImportKind kind, int found)
    {
        lock (_gate)
            _expected[(int)kind] = Math.Max(_expected[(int)kind], found);
    }

    /// <summary>Ends the count. From then on, the total is the number of counted items.</summary>
    public void Complete()
    {
        lock (_gate)
            Array.Clear(_expected);
    }

    public void Take(ImportKind kind, int count = 1)
    {
        lock (_gate)
            _taken[(int)kind] += count;
    }

    public void Leave(ImportKind kind, string name, string reason)
    {
        lock (_gate)
        {
            _left[(int)kind]++;
            if (_things.Count < MostListed)
                _things.Add(new LeftThing(kind, Shorten(name), Shorten(reason)));
        }
    }

    /// <summary>Moves one item from taken to left.</summary>
    public void Refuse(ImportKind kind, string name, string reason)
    {
        Take(kind, -1);
        Leave(kind, name, reason);
    }

    public void Note(string sentence)
    {
        lock (_gate)
        {
            if (_notesTotal++ < MostListed)
                _notes.Add(Shorten(sentence));
        }
    }

    public void Keep(string key)
    {
        lock (_gate)
        {
            if (_kept.Count < MostListed)
                _kept.Add(Shorten(key));
        }
    }

    /// <summary>Adds the counts of an earlier run.</summary>
    public void Add(ImportReport before)
    {
        lock (_gate)
        {
            foreach (var count in before.Counts)
            {
                _taken[(int)count.Kind] += count.Taken;
                _left[(int)count.Kind] += count.Left;
            }

            _things.AddRange(before.Left);
            _notes.AddRange(before.Notes);
            _kept.AddRange(before.Kept);
            _notesTotal += before.NotesTotal;
        }
    }

    public ImportReport Report()
    {
        lock (_gate)
        {
            return new ImportReport(
                [.. Enum.GetValues<ImportKind>().Select(kind => new ImportCount(kind, Math.Max(_expected[(int)kind], _taken[(int)kind] + _left[(int)kind]), _taken[(int)kind], _left[(int)kind]))],
                [.. _things],
                _left.Sum(),
                [.. _notes],
                _notesTotal,
                [.. _kept]);
        }
    }

    private static string Shorten(string text)
    {
        var line = new string([.. text.Take(MostText).Select(c => char.IsControl(c) || char.IsSurrogate(c) ? '?' : c)]);
        return text.Length > MostText ? line + "…" : line;
    }
}
