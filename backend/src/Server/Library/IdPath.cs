namespace Sluice.Server.Library;

/// <summary>Where a library file stands below <c>/.ids</c>: five levels of one hex digit, then the id itself.</summary>
internal static class IdPath
{
    /// <summary>The folder at the root of the tree that holds all files by their ids.</summary>
    public const string Root = ".ids";

    /// <summary>Levels of folders.</summary>
    public const int Levels = 5;

    /// <summary>The digits that a level can be, in order.</summary>
    public const string Digits = "0123456789abcdef";

    /// <summary>The last name of the path of an id.</summary>
    public static string NameOf(Guid id) => id.ToString("D");

    /// <summary>The path below the root of the tree, without a slash at its start.</summary>
    public static string Of(Guid id)
    {
        var name = NameOf(id);
        return $"{Root}/{string.Join('/', name[..Levels].AsEnumerable())}/{name}";
    }

    /// <summary>The leading digits that the names of folders spell, or null where one of them is no such folder.</summary>
    public static string? PrefixOf(IReadOnlyList<string> names) =>
        names.Count <= Levels && names.All(name => name.Length == 1 && Digits.Contains(name[0], StringComparison.Ordinal))
            ? string.Concat(names)
            : null;

    /// <summary>The id that a whole path below <c>/.ids</c> means, in exactly the form of <see cref="Of"/>; null for any other.</summary>
    public static Guid? IdOf(IReadOnlyList<string> names)
    {
        if (names.Count != Levels + 1 || PrefixOf([.. names.Take(Levels)]) is not { } prefix || !Guid.TryParseExact(names[Levels], "D", out var id))
            return null;
        var name = NameOf(id);
        return name == names[Levels] && name.StartsWith(prefix, StringComparison.Ordinal) ? id : null;
    }
}
