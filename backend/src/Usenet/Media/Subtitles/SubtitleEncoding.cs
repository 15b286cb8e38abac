using System.Text;

namespace Sluice.Usenet.Media.Subtitles;

/// <summary>Decodes subtitle files. Pure.</summary>
/// <remarks>
/// The first rule that applies decides: the byte order mark; UTF-8 if more sequences are valid than invalid; the Windows code page of the language in the
/// file's name; 1251 if most letters are Cyrillic, or 1253 if most are Greek; 1250 if Central European letters occur inside words; otherwise 1252.
/// </remarks>
internal static class SubtitleEncoding
{
    private const int Cyrillic = 1251;
    private const int Greek = 1253;
    private const int CentralEurope = 1250;
    private const int WesternEurope = 1252;

    /// <summary>Decodes a file. Invalid bytes become U+FFFD.</summary>
    /// <param name="language">ISO 639-1 code; null if unknown.</param>
    public static string Decode(ReadOnlySpan<byte> bytes, string? language)
    {
        if (bytes.StartsWith("\uFEFF"u8))
            return Encoding.UTF8.GetString(bytes[3..]);
        if (bytes.StartsWith((ReadOnlySpan<byte>)[0xFF, 0xFE]))
            return Encoding.Unicode.GetString(bytes[2..]);
        if (bytes.StartsWith((ReadOnlySpan<byte>)[0xFE, 0xFF]))
            return Encoding.BigEndianUnicode.GetString(bytes[2..]);
        if (IsUtf8(bytes))
            return Encoding.UTF8.GetString(bytes);
        var page = language is not null && SubtitleLanguage.Find(language) is { } known ? known.CodePage : GuessPage(bytes);
        return (CodePagesEncodingProvider.Instance.GetEncoding(page) ?? Encoding.Latin1).GetString(bytes);
    }

    /// <summary>Whether text is UTF-8, even if some bytes are damaged. Code page letters hardly ever form a valid UTF-8 sequence.</summary>
    private static bool IsUtf8(ReadOnlySpan<byte> bytes)
    {
        if (System.Text.Unicode.Utf8.IsValid(bytes))
            return true;
        var (correct, wrong) = (0, 0);
        while (bytes.IndexOfAnyExceptInRange((byte)0, (byte)0x7F) is >= 0 and var at)
        {
            bytes = bytes[at..];
            if (Rune.DecodeFromUtf8(bytes, out _, out var length) == System.Buffers.OperationStatus.Done)
                correct++;
            else
                wrong++;
            bytes = bytes[length..];
        }

        return correct > wrong;
    }

    private static int GuessPage(ReadOnlySpan<byte> bytes)
    {
        var (latin, high, accents, insideWords) = (0, 0, 0, 0);
        for (var i = 0; i < bytes.Length; i++)
        {
            var letter = bytes[i];
            if (char.IsAsciiLetter((char)letter))
                latin++;
            if (letter >= 0xC0)
                high++;
            // Accented lower-case letters in 1253, which every second Greek word has. In 1251 these bytes are rare capitals.
            if (letter is >= 0xDC and <= 0xDF)
                accents++;
            if (IsLetterOfCentralEuropeOnly(letter) && i > 0 && i + 1 < bytes.Length && (char.IsAsciiLetterLower((char)bytes[i - 1]) || char.IsAsciiLetterLower((char)bytes[i + 1])))
                insideWords++;
        }

        if (high > latin)
            return accents * 25 > high ? Greek : Cyrillic;
        return insideWords > 0 && insideWords * 50 > high ? CentralEurope : WesternEurope;
    }

    /// <summary>Whether a byte is a letter in 1250 but a symbol in 1252: Ś Ť Ź ś ť ź Ł Ą Ş Ż ł ą ş Ľ ľ ż.</summary>
    private static bool IsLetterOfCentralEuropeOnly(byte letter) =>
        letter is 0x8D or 0x8F or 0x9D or 0xA3 or 0xA5 or 0xAA or 0xAF or 0xB3 or 0xB9 or 0xBA or 0xBC or 0xBE or 0xBF;
}
