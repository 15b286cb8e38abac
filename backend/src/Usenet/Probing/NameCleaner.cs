using System.Globalization;
using System.Text;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Probing;

/// <summary>
/// Converts any string to a name that file systems, WebDAV clients and URLs accept: NFC, at most 255 UTF-8 bytes, without separators,
/// control characters, lone surrogates, non-characters or bidi overrides. Used for files, releases and categories. Pure.
/// </summary>
public static class NameCleaner
{
    /// <summary>Longest name in UTF-8 bytes, the limit of Linux file systems.</summary>
    public const int MaxBytes = 255;

    // A longer extension is treated as part of the title.
    private const int MaxExtensionBytes = 16;

    /// <summary>Returns the clean name. Idempotent.</summary>
    /// <param name="windowsSafe">Also removes <c>&lt;&gt;:"|?*</c>, trailing dots and spaces, and Windows device names.</param>
    /// <param name="suffix">Clean text inserted before the extension and never truncated, as in <c>film (2).mkv</c>.</param>
    /// <returns>Never empty, <c>.</c> or <c>..</c>; invalid characters become <c>_</c> or are removed.</returns>
    public static string Clean(string name, bool windowsSafe, string suffix = "")
    {
        ArgumentNullException.ThrowIfNull(name);
        ArgumentNullException.ThrowIfNull(suffix);

        var clean = Replace(NfcName.Of(Strip(name)), windowsSafe);
        clean = Trim(clean, windowsSafe);
        if (clean is "." or "..")
            clean = new string('_', clean.Length);
        else if (clean.Length == 0)
            clean = "_";
        if (windowsSafe && IsDevice(clean))
            clean = "_" + clean;
        return Trim(Shorten(clean, suffix), windowsSafe);
    }

    // Runs before normalization, because characters next to a removed one may then combine, and because normalization refuses lone surrogates.
    private static string Strip(string name)
    {
        var kept = new StringBuilder(name.Length);
        foreach (var rune in name.EnumerateRunes())
        {
            // A lone surrogate is enumerated as U+FFFD; a real U+FFFD is kept.
            var isInvisible = Rune.GetUnicodeCategory(rune) == UnicodeCategory.Control
                || rune.Value is (>= 0x202A and <= 0x202E) or (>= 0x2066 and <= 0x2069) or 0x200E or 0x200F or 0x061C
                || (rune.Value & 0xFFFE) == 0xFFFE || rune.Value is >= 0xFDD0 and <= 0xFDEF;
            if (!isInvisible)
                kept.Append(rune);
        }

        return kept.ToString();
    }

    private static string Replace(string name, bool windowsSafe) => string.Create(name.Length, (name, windowsSafe), static (target, source) =>
    {
        for (var i = 0; i < target.Length; i++)
        {
            var letter = source.name[i];
            var isForbidden = letter is '/' or '\\' || (source.windowsSafe && letter is '<' or '>' or ':' or '"' or '|' or '?' or '*');
            target[i] = isForbidden ? '_' : letter;
        }
    });

    private static string Trim(string name, bool windowsSafe)
    {
        name = name.TrimStart();
        var end = name.Length;
        while (windowsSafe && end > 0 && (name[end - 1] == '.' || char.IsWhiteSpace(name[end - 1])))
            end--;
        return name[..end];
    }

    private static bool IsDevice(string name)
    {
        var dot = name.IndexOf('.', StringComparison.Ordinal);
        var stem = (dot < 0 ? name : name[..dot]).TrimEnd().ToUpperInvariant();
        return stem is "CON" or "PRN" or "AUX" or "NUL" or "CONIN$" or "CONOUT$"
            || (stem.Length == 4 && (stem.StartsWith("COM", StringComparison.Ordinal) || stem.StartsWith("LPT", StringComparison.Ordinal))
                && stem[3] is (>= '0' and <= '9') or '\u00B9' or '\u00B2' or '\u00B3');
    }

    // Truncates the stem between characters and keeps the extension.
    private static string Shorten(string name, string suffix)
    {
        var dot = name.LastIndexOf('.');
        var extension = dot > 0 && Encoding.UTF8.GetByteCount(name.AsSpan(dot)) <= MaxExtensionBytes ? name[dot..] : "";
        var stem = name.AsSpan(0, name.Length - extension.Length);
        var room = MaxBytes - Encoding.UTF8.GetByteCount(extension) - Encoding.UTF8.GetByteCount(suffix);
        if (Encoding.UTF8.GetByteCount(stem) > room)
        {
            var length = 0;
            foreach (var rune in stem.EnumerateRunes())
            {
                if ((room -= rune.Utf8SequenceLength) < 0)
                    break;
                length += rune.Utf16SequenceLength;
            }

            stem = stem[..length];
        }

        return string.Concat(stem, suffix, extension);
    }
}
