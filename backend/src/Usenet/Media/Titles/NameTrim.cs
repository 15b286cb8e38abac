namespace Sluice.Usenet.Media.Titles;

/// <summary>Strips the decorations that indexers, posters and file systems add to a release name. Pure.</summary>
internal static class NameTrim
{
    /// <summary>Minimum length of a bracketed name in a subject, because shorter brackets contain numbers and groups.</summary>
    public const int ShortestInSubject = 12;

    private static readonly string[] Extensions =
        [".nzb", ".mkv", ".mp4", ".avi", ".m4v", ".mov", ".wmv", ".mpg", ".mpeg", ".m2ts", ".webm", ".vob", ".iso", ".rar", ".par2"];

    /// <summary>Strips extensions, white space and a leading site address.</summary>
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

    /// <summary>Extracts the content of the next bracket; false if there is none.</summary>
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
