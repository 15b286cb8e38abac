namespace Sluice.Usenet.Nzb;

/// <summary>The metadata of an NZB. <see cref="NzbReader"/> fills it while reading.</summary>
/// <remarks>Not thread-safe; complete once the enumeration has ended.</remarks>
public sealed class NzbHead
{
    // More values of one type are noise, and each would later cost a password attempt or a column.
    private const int MaxValues = 16;
    private const int MaxValueLength = 4096;

    private readonly List<string> _passwords = [];
    private readonly List<string> _tags = [];

    public string? Title { get; private set; }

    public string? Name { get; private set; }

    /// <summary>Category in the indexer's terms; null if absent.</summary>
    public string? Category { get; private set; }

    /// <summary>Archive passwords in the given order; at most 16. Secret: never log them.</summary>
    public IReadOnlyList<string> Passwords => _passwords;

    public IReadOnlyList<string> Tags => _tags;

    /// <summary>Number of file elements, including merged files and files without a usable article.</summary>
    public int Files { get; internal set; }

    public int Segments { get; internal set; }

    /// <summary>Number of segment elements dropped because their message-id is missing or malformed.</summary>
    public int DroppedSegments { get; internal set; }

    /// <summary>Number of file elements merged into an earlier, equal element.</summary>
    public int MergedFiles { get; internal set; }

    // The first value of a type wins, except for types that allow several.
    internal void Add(string type, string value)
    {
        value = value.Trim();
        if (value.Length is 0 or > MaxValueLength)
            return;

        switch (type.Trim().ToUpperInvariant())
        {
            case "TITLE":
                Title ??= value;
                break;
            case "NAME":
                Name ??= value;
                break;
            case "CATEGORY":
                Category ??= value;
                break;
            case "PASSWORD":
                AddTo(_passwords, value);
                break;
            case "TAG":
                AddTo(_tags, value);
                break;
        }
    }

    private static void AddTo(List<string> values, string value)
    {
        if (values.Count < MaxValues && !values.Contains(value))
            values.Add(value);
    }
}
