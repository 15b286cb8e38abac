namespace Sluice.Server.Library;

/// <summary>The path of a library file below <c>/.ids</c>: five levels of one hex digit, then the id.</summary>
internal static class IdPath
{
    /// <summary>Root folder of the files by id.</summary>
    public const string Root = ".ids";

    public const int Levels = 5;

    /// <summary>The folder names of each level, in order.</summary>
    public const string Digits = "0123456789abcdef";

    /// <summary>Returns the file name that ends the path of an id.</summary>
    public static string NameOf(Guid id) => id.ToString("D");

    /// <summary>Returns the path of an id from the WebDAV root, without a leading slash.</summary>
    public static string Of(Guid id)
    {
        var name = NameOf(id);
        return $"{Root}/{string.Join('/', name[..Levels].AsEnumerable())}/{name}";
    }

    /// <summary>Returns the leading digits spelled by the folder names; null if any name is not a single digit.</summary>
    public static string? PrefixOf(IReadOnlyList<string> names) =>
        names.Count <= Levels && names.All(name => name.Length == 1 && Digits.Contains(name[0], StringComparison.Ordinal))
            ? string.Concat(names)
            : null;

    /// <summary>Parses a path below <c>/.ids</c>; null unless it has exactly the form of <see cref="Of"/>.</summary>
    public static Guid? IdOf(IReadOnlyList<string> names)
    {
        if (names.Count != Levels + 1 || PrefixOf([.. names.Take(Levels)]) is not { } prefix || !Guid.TryParseExact(names[Levels], "D", out var id))
            return null;
        var name = NameOf(id);
        return name == names[Levels] && name.StartsWith(prefix, StringComparison.Ordinal) ? id : null;
    }
}
