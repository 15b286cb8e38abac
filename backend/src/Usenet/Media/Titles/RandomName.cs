namespace Sluice.Usenet.Media.Titles;

/// <summary>Recognizes randomly generated names, which say nothing about the content. Pure.</summary>
internal static class RandomName
{
    private const int HexDigits = 16;
    private const int MixedLetters = 12;
    private const int MixedChanges = 3;

    /// <summary>Whether a name without extension is a long hex number or a random mix of letters and digits.</summary>
    public static bool Matches(ReadOnlySpan<char> stem)
    {
        var (isHex, changes) = (stem.Length >= HexDigits, 0);
        for (var i = 0; i < stem.Length; i++)
        {
            if (!char.IsAsciiLetterOrDigit(stem[i]))
                return false;
            isHex &= char.IsAsciiHexDigit(stem[i]);
            changes += i > 0 && char.IsAsciiDigit(stem[i]) != char.IsAsciiDigit(stem[i - 1]) ? 1 : 0;
        }

        return isHex || (stem.Length >= MixedLetters && changes >= MixedChanges);
    }
}
