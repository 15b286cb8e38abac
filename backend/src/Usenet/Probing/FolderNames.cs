namespace Sluice.Usenet.Probing;

/// <summary>The names in one folder. Cleans each added name; duplicates get <c> (2)</c>, <c> (3)</c> and so on.</summary>
/// <remarks>Not thread-safe. With <c>windowsSafe</c>, names that differ only in case are duplicates.</remarks>
public sealed class NameSet(bool windowsSafe)
{
    private readonly HashSet<string> _taken = new(windowsSafe ? StringComparer.OrdinalIgnoreCase : StringComparer.Ordinal);

    // The next number to try per name, so that thousands of duplicates do not each count from 2.
    private readonly Dictionary<string, int> _next = new(windowsSafe ? StringComparer.OrdinalIgnoreCase : StringComparer.Ordinal);

    /// <summary>Cleans a name with <see cref="NameCleaner"/>, makes it unique and returns it.</summary>
    public string Add(string name)
    {
        var plain = NameCleaner.Clean(name, windowsSafe);
        if (_taken.Add(plain))
            return plain;

        for (var number = _next.GetValueOrDefault(plain, 2); ; number++)
        {
            var numbered = NameCleaner.Clean(plain, windowsSafe, $" ({number})");
            if (!_taken.Add(numbered))
                continue;
            _next[plain] = number + 1;
            return numbered;
        }
    }

    /// <summary>Reserves a clean name, so that <see cref="Add"/> never returns it.</summary>
    internal void Reserve(string name) => _taken.Add(name);
}

/// <summary>The folders of a release and their files. Folders keep their names; a file with a folder's name is numbered. Not thread-safe.</summary>
internal sealed class FolderNames
{
    private readonly bool _windowsSafe;
    private readonly Dictionary<string, string> _spellings;
    private readonly Dictionary<string, NameSet> _sets = [];

    /// <summary>Adds folders, given as uncleaned elements; parent folders are added implicitly.</summary>
    public FolderNames(IEnumerable<IReadOnlyList<string>> folders, bool windowsSafe)
    {
        _windowsSafe = windowsSafe;
        _spellings = new Dictionary<string, string>(windowsSafe ? StringComparer.OrdinalIgnoreCase : StringComparer.Ordinal);
        foreach (var path in folders.Select(Clean).Distinct(StringComparer.Ordinal).Order(StringComparer.Ordinal))
            Add(path);
    }

    /// <summary>Returns the clean path of an added folder, spelled like the first equal folder and separated by <c>/</c>; empty for the root.</summary>
    public string PathOf(IReadOnlyList<string> folder) => folder.Count == 0 ? "" : _spellings[Clean(folder)];

    /// <summary>Adds a file name to a folder from <see cref="PathOf"/>, and returns the clean and unique name.</summary>
    public string Add(string path, string name) => SetOf(path).Add(name);

    private string Clean(IReadOnlyList<string> folder) => string.Join('/', folder.Select(element => NameCleaner.Clean(element, _windowsSafe)));

    private string Add(string path)
    {
        if (_spellings.TryGetValue(path, out var spelling))
            return spelling;

        var slash = path.LastIndexOf('/');
        var above = slash < 0 ? "" : Add(path[..slash]);
        var name = path[(slash + 1)..];
        spelling = above.Length == 0 ? name : $"{above}/{name}";
        SetOf(above).Reserve(name);
        _spellings.Add(path, spelling);
        return spelling;
    }

    private NameSet SetOf(string path)
    {
        if (!_sets.TryGetValue(path, out var set))
            _sets.Add(path, set = new NameSet(_windowsSafe));
        return set;
    }
}
