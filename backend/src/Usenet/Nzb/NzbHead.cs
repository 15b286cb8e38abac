namespace Sluice.Usenet.Nzb;

/// <summary>What an NZB says about itself besides its files. <see cref="NzbReader"/> fills it while it reads.</summary>
/// <remarks>Not thread-safe; complete when the enumeration has ended.</remarks>
public sealed class NzbHead
{
    // More than this of one kind is noise: each costs a try or a column later.
    private const int MaxValues = 16;
    private const int MaxValueLength = 4096;

    private readonly List<string> _passwords = [];
    private readonly List<string> _tags = [];

    /// <summary>Title of the release, or null.</summary>
    public string? Title { get; private set; }

    /// <summary>Name of the release, or null.</summary>
    public string? Name { get; private set; }

    /// <summary>Category as the indexer calls it, or null.</summary>
    public string? Category { get; private set; }

    /// <summary>Archive passwords in the order given; at most 16. Secret: never logged.</summary>
    public IReadOnlyList<string> Passwords => _passwords;

    /// <summary>Tags in the order given; at most 16.</summary>
    public IReadOnlyList<string> Tags => _tags;

    /// <summary>Number of file elements met, those that were merged or list no usable article included.</summary>
    public int Files { get; internal set; }

    /// <summary>Number of segment elements met.</summary>
    public int Segments { get; internal set; }

    /// <summary>Segment elements that were dropped, because their message-id is missing or malformed.</summary>
    public int DroppedSegments { get; internal set; }

    /// <summary>File elements that repeat an earlier one and were merged into it.</summary>
    public int MergedFiles { get; internal set; }

    // The first value of a kind wins, except where several make sense.
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
