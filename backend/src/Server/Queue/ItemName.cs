namespace Sluice.Server.Queue;

/// <summary>An item's name without extensions, which may be empty, and the password that users may append to it (SAB-27).</summary>
internal sealed record ItemName(string Name, string? Password)
{
    private const string PasswordWord = "password=";

    private static readonly string[] NzbExtensions = [".nzb", ".nzb.gz", ".nzb.bz2", ".zip"];

    private static readonly string[] PackedExtensions = [".gz", ".bz2", ".zip"];

    /// <summary>Whether the file name ends in the extension of an NZB or compressed NZB.</summary>
    public static bool IsOfNzb(string fileName) => Array.Exists(
        NzbExtensions, extension => fileName.Length > extension.Length && fileName.EndsWith(extension, StringComparison.OrdinalIgnoreCase));

    /// <summary>Parses <c>name{{pw}}</c>, <c>name password=pw</c> and <c>name/pw</c>, with or without extensions.</summary>
    public static ItemName Parse(string text)
    {
        var name = WithoutExtensions(text.Trim());
        var braces = name.IndexOf("{{", StringComparison.Ordinal);
        var slash = name.IndexOf('/', StringComparison.Ordinal);
        var word = name.IndexOf(PasswordWord, StringComparison.OrdinalIgnoreCase);

        // A slash inside the braces is part of the password.
        if (slash > 0 && (braces < 0 || slash < braces) && (word < 0 || slash < word))
            return Split(name, slash, slash + 1, name.Length);
        if (word > 0 && (braces < 0 || word < braces))
            return Split(name, word, word + PasswordWord.Length, name.Length);
        if (braces > 0 && name.LastIndexOf("}}", StringComparison.Ordinal) is var closing && closing > braces)
            return Split(name, braces, braces + 2, closing);
        return new ItemName(name, null);
    }

    private static ItemName Split(string name, int end, int passwordStart, int passwordEnd)
    {
        var password = name[passwordStart..passwordEnd].Trim();
        return new ItemName(WithoutExtensions(name[..end].Trim(' ', '.')), password.Length == 0 ? null : password);
    }

    private static string WithoutExtensions(string name)
    {
        foreach (var extension in PackedExtensions)
        {
            if (name.EndsWith(extension, StringComparison.OrdinalIgnoreCase))
            {
                name = name[..^extension.Length];
                break;
            }
        }

        return name.EndsWith(".nzb", StringComparison.OrdinalIgnoreCase) ? name[..^4] : name;
    }
}
