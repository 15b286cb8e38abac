namespace Sluice.Usenet.Probing;

/// <summary>Decides which paths of archives and PAR2 sets are names (IMP-43). Pure.</summary>
public static class InnerPath
{
    /// <summary>Most folders that a file may lie in, far more than any release has.</summary>
    public const int MaxFolders = 32;

    /// <summary>Splits a path into its elements, which are not cleaned yet.</summary>
    /// <param name="path">As the archive has it. Both slashes separate: archives made on Windows have the other one.</param>
    /// <returns>
    /// Folders and name, or null where the path is refused and its file not published: it is absolute, begins with a drive, holds
    /// <c>.</c> or <c>..</c>, ends in a folder or is deeper than <see cref="MaxFolders"/>. A <c>./</c> that it begins with says nothing and is
    /// left out; tar writes it.
    /// </returns>
    public static IReadOnlyList<string>? Split(string path)
    {
        ArgumentNullException.ThrowIfNull(path);
        path = path.Replace('\\', '/');
        while (path.StartsWith("./", StringComparison.Ordinal))
            path = path[2..];
        var hasDrive = path.Length >= 2 && path[1] == ':' && char.IsAsciiLetter(path[0]);
        if (hasDrive || path.StartsWith('/') || path.AsSpan().TrimEnd().EndsWith("/"))
            return null;

        var elements = path.Split('/', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        return elements.Length is 0 or > MaxFolders + 1 || elements.Any(element => element is "." or "..") ? null : elements;
    }
}
