namespace Sluice.Usenet.Probing;

/// <summary>Tells names that say something from names that hide something. Pure.</summary>
internal static class NameJudge
{
    private const int HexDigits = 16;
    private const int MixedLetters = 12;
    private const int MixedChanges = 3;

    /// <summary>The extension without its dot, or empty: 2 to 5 letters and digits, not digits alone unless there are three.</summary>
    public static string ExtensionOf(string name)
    {
        var dot = name.LastIndexOf('.');
        var extension = dot > 0 ? name[(dot + 1)..] : "";
        return extension.Length is >= 2 and <= 5 && extension.All(char.IsAsciiLetterOrDigit)
            && (extension.Length == 3 || extension.Any(char.IsAsciiLetter))
            ? extension
            : "";
    }

    /// <summary>True for long hex numbers, random mixes of letters and digits, and names without extension.</summary>
    public static bool IsObfuscated(string name)
    {
        var extension = ExtensionOf(name);
        if (extension.Length == 0)
            return true;

        var stem = name[..^(extension.Length + 1)];
        return (stem.Length >= HexDigits && stem.All(char.IsAsciiHexDigit)) || IsRandomMix(stem);
    }

    private static bool IsRandomMix(string stem)
    {
        if (stem.Length < MixedLetters || !stem.All(char.IsAsciiLetterOrDigit))
            return false;

        var changes = 0;
        for (var i = 1; i < stem.Length; i++)
            changes += char.IsAsciiDigit(stem[i]) != char.IsAsciiDigit(stem[i - 1]) ? 1 : 0;
        return changes >= MixedChanges;
    }
}
