namespace Sluice.Usenet.Media.Titles;

/// <summary>Removes what indexers, posters and file systems put around the name of a release. Pure.</summary>
internal static class NameTrim
{
    /// <summary>Minimum length of a name in a bracket of a subject. Shorter brackets are numbers and groups.</summary>
    public const int ShortestInSubject = 12;

    private static readonly string[] Extensions =
        [".nzb", ".mkv", ".mp4", ".avi", ".m4v", ".mov", ".wmv", ".mpg", ".mpeg", ".m2ts", ".webm", ".vob", ".iso", ".rar", ".par2"];

    /// <summary>Removes extensions, white space and the address of a site in front.</summary>
    public static ReadOnlySpan<char> WithoutWrapping(ReadOnlySpan<char> name)
    {
        name = name.Trim();
        foreach (var extension in Extensions)
        {
            if (name.Length > extension.Length && name.EndsWith(extension, StringComparison.OrdinalIgnoreCase))
                name = name[..^extension.Length];
        }

        return WithoutSite(name).Trim();
    }

    /// <summary>Takes the content of the next bracket; false if there is none.</summary>
    public static bool TryTakeBracket(ref ReadOnlySpan<char> rest, out ReadOnlySpan<char> inner)
    {
        inner = default;
        var open = rest.IndexOf('[');
        var close = open < 0 ? -1 : rest[open..].IndexOf(']');
        if (close < 0)
            return false;
        inner = rest.Slice(open + 1, close - 1).Trim();
        rest = rest[(open + close + 1)..];
        return true;
    }

    private static ReadOnlySpan<char> WithoutSite(ReadOnlySpan<char> name)
    {
        var start = name.TrimStart("[ ");
        if (!start.StartsWith("www.", StringComparison.OrdinalIgnoreCase))
            return name;
        var end = start.IndexOfAny(' ', ']');
        return end < 0 ? name : start[end..].TrimStart("] -_");
    }
}
