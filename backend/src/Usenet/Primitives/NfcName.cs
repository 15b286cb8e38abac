using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace Sluice.Usenet.Primitives;

/// <summary>Names in Unicode form NFC, in which all of them are stored and compared.</summary>
/// <remarks>The runtime refuses to normalise text with U+FFFE or a lone surrogate. No name of the tree holds either (DAV-13).</remarks>
public static class NfcName
{
    /// <summary>A name in the form NFC.</summary>
    /// <returns>False for text that has no such form, which names nothing.</returns>
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

    /// <summary>A text with its accents apart from their letters; text that has no such form is returned as it is.</summary>
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

    /// <summary>A name in the form NFC; text that has none is returned as it is, and equals no name that has.</summary>
    public static string Of(string text) => TryOf(text, out var name) ? name : text;
}
