namespace Sluice.Server.FamilyImport;

/// <summary>What is taken over.</summary>
internal enum ImportKind
{
    /// <summary>Saved values.</summary>
    Settings,

    /// <summary>Logins of the administrator.</summary>
    Logins,

    /// <summary>Files of the library.</summary>
    Files,

    /// <summary>Items of the history.</summary>
    History,

    /// <summary>Items of the queue.</summary>
    Queue,

    /// <summary>NZBs that the old server has kept.</summary>
    Nzbs,
}

/// <summary>How many there are of a kind; what is taken and what is left are always as many as were found.</summary>
internal sealed record ImportCount(ImportKind Kind, int Found, int Taken, int Left);

/// <summary>Something that is not taken over.</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Name">What it is called.</param>
/// <param name="Reason">Why not, as a part of a sentence.</param>
internal sealed record LeftThing(ImportKind Kind, string Name, string Reason);

/// <summary>What an import takes over, and what it does not.</summary>
/// <param name="Counts">One for each kind.</param>
/// <param name="Left">What is not taken over, as far as it fits.</param>
/// <param name="LeftTotal">How many that are in all.</param>
/// <param name="Notes">What is taken over in another form, one sentence each, as far as it fits.</param>
/// <param name="NotesTotal">How many that are in all.</param>
/// <param name="Kept">Keys without a counterpart, which are kept without effect.</param>
internal sealed record ImportReport(
    IReadOnlyList<ImportCount> Counts,
    IReadOnlyList<LeftThing> Left,
    int LeftTotal,
    IReadOnlyList<string> Notes,
    int NotesTotal,
    IReadOnlyList<string> Kept)
{
    /// <summary>Before anything was looked at.</summary>
    public static ImportReport Nothing { get; } = new([], [], 0, [], 0, []);
}

/// <summary>Counts what an import, or its rehearsal, comes across.</summary>
/// <remarks>Thread-safe: people look at it while it counts.</remarks>
internal sealed class ImportTally
{
    // As many as a person reads, and a row of the database holds.
    private const int MostListed = 1000;
    private const int MostText = 300;

    // Guards the fields below.
    private readonly Lock _gate = new();
    private readonly int[] _taken = new int[Enum.GetValues<ImportKind>().Length];
    private readonly int[] _left = new int[Enum.GetValues<ImportKind>().Length];
    private readonly List<LeftThing> _things = [];
    private readonly List<string> _notes = [];
    private readonly List<string> _kept = [];
    private int _notesTotal;

    /// <summary>So many of a kind are taken over.</summary>
    public void Take(ImportKind kind, int count = 1)
    {
        lock (_gate)
            _taken[(int)kind] += count;
    }

    /// <summary>One is not taken over.</summary>
    public void Leave(ImportKind kind, string name, string reason)
    {
        lock (_gate)
        {
            _left[(int)kind]++;
            if (_things.Count < MostListed)
                _things.Add(new LeftThing(kind, Shorten(name), Shorten(reason)));
        }
    }

    /// <summary>One that was counted as taken is not taken over after all.</summary>
    public void Refuse(ImportKind kind, string name, string reason)
    {
        Take(kind, -1);
        Leave(kind, name, reason);
    }

    /// <summary>Something is taken over in another form.</summary>
    public void Note(string sentence)
    {
        lock (_gate)
        {
            if (_notesTotal++ < MostListed)
                _notes.Add(Shorten(sentence));
        }
    }

    /// <summary>A key has no counterpart and is kept.</summary>
    public void Keep(string key)
    {
        lock (_gate)
        {
            if (_kept.Count < MostListed)
                _kept.Add(Shorten(key));
        }
    }

    /// <summary>Goes on from what was counted before.</summary>
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

    /// <summary>The counts so far.</summary>
    public ImportReport Report()
    {
        lock (_gate)
        {
            return new ImportReport(
                [.. Enum.GetValues<ImportKind>().Select(kind => new ImportCount(kind, _taken[(int)kind] + _left[(int)kind], _taken[(int)kind], _left[(int)kind]))],
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
