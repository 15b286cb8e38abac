namespace Sluice.Usenet.Probing;

/// <summary>The names in one folder: each is cleaned as it comes, and equal ones get <c> (2)</c>, <c> (3)</c> and so on.</summary>
/// <remarks>Not thread-safe. Names that differ in case only are equal where Windows has to tell them apart.</remarks>
public sealed class NameSet(bool windowsSafe)
{
    private readonly HashSet<string> _taken = new(windowsSafe ? StringComparer.OrdinalIgnoreCase : StringComparer.Ordinal);

    // The number to try next per name, so that thousands of equal names do not count from 2 each.
    private readonly Dictionary<string, int> _next = new(windowsSafe ? StringComparer.OrdinalIgnoreCase : StringComparer.Ordinal);

    /// <summary>Takes a name.</summary>
    /// <param name="name">Anything; it is cleaned by <see cref="NameCleaner"/>.</param>
    /// <returns>The name that it gets: clean and not taken before.</returns>
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

    /// <summary>Keeps a clean name from being given, however often it is said.</summary>
    internal void Reserve(string name) => _taken.Add(name);
}

/// <summary>The folders of a release and the names in them. A folder keeps its name, and a file that is called like one is numbered.</summary>
/// <remarks>Not thread-safe.</remarks>
internal sealed class FolderNames
{
    private readonly bool _windowsSafe;
    private readonly Dictionary<string, string> _spellings;
    private readonly Dictionary<string, NameSet> _sets = [];

    /// <summary>Takes the folders of a release.</summary>
    /// <param name="folders">Elements of each, not cleaned; those above them need not be named.</param>
    /// <param name="windowsSafe">Whether names are cleaned for Windows as well.</param>
    public FolderNames(IEnumerable<IReadOnlyList<string>> folders, bool windowsSafe)
    {
        _windowsSafe = windowsSafe;
        _spellings = new Dictionary<string, string>(windowsSafe ? StringComparer.OrdinalIgnoreCase : StringComparer.Ordinal);
        foreach (var path in folders.Select(Clean).Distinct(StringComparer.Ordinal).Order(StringComparer.Ordinal))
            Add(path);
    }

    /// <summary>The path of a folder: clean, and spelt as the first of all that are equal to it.</summary>
    /// <param name="folder">Its elements, not cleaned; one of those that were taken.</param>
    /// <returns>Separated by <c>/</c>; empty for the release itself.</returns>
    public string PathOf(IReadOnlyList<string> folder) => folder.Count == 0 ? "" : _spellings[Clean(folder)];

    /// <summary>Takes a name in a folder.</summary>
    /// <param name="path">By <see cref="PathOf"/>.</param>
    /// <param name="name">Anything.</param>
    /// <returns>The name that it gets.</returns>
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
