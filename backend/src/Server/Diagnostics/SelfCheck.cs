using Sluice.Server.Database;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Diagnostics;

/// <summary>Proves at start what the rest takes for granted.</summary>
internal static class SelfCheck
{
    /// <summary>Names are NFC, which needs the Unicode tables of the image.</summary>
    /// <exception cref="StartRefusedException">They are missing (exit 70).</exception>
    public static void Run()
    {
        const string decomposed = "Ame\u0301lie";
        const string composed = "Am\u00e9lie";
        if (NfcName.Of(decomposed) != composed)
        {
            throw new StartRefusedException(
                StartRefusedException.AssertionFailed, "Unicode normalisation does not work here; install the ICU libraries");
        }
    }
}
