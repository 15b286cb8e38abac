using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace Sluice.Usenet.Primitives;

/// <summary>Normalizes names to Unicode NFC, the form in which names are stored and compared.</summary>
/// <remarks>The runtime refuses to normalize text with U+FFFE or a lone surrogate. No name in the file tree contains either (DAV-13).</remarks>
public static class NfcName
{
    /// <summary>Returns the NFC form of a name; false if the string has none and therefore cannot be a name.</summary>
    public static bool TryOf(string text, [NotNullWhen(true)] out string? name)
    {
        ArgumentNullException.ThrowIfNull(text);
        try
        {
            name = text.IsNormalized(NormalizationForm.FormC) ? text : text.Normalize(NormalizationForm.FormC);
        }
        catch (ArgumentException)
        {
            name = null;
        }

        return name is not null;
    }

    /// <summary>Returns a string with accents separated from their letters (NFD), or the string itself if it has no such form.</summary>
    public static string Decompose(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        try
        {
            return text.Normalize(NormalizationForm.FormD);
        }
        catch (ArgumentException)
        {
            return text;
        }
    }

    /// <summary>Returns the NFC form of a name, or the string itself if it has none; such a string equals no valid name.</summary>
    public static string Of(string text) => TryOf(text, out var name) ? name : text;
}
