using System.Globalization;
using System.Text;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue;

/// <summary>Finds the folder name of a release (IMP-44, SAB-42).</summary>
internal static class ReleaseName
{
    // Leaves room for a number and for the extension of the queue file.
    private const int MaxBytes = NameCleaner.MaxBytes - 15;

    private const string Nameless = "Unnamed";

    /// <summary>The clean form of a name, in use or not.</summary>
    public static string Clean(string name, bool windowsSafe)
    {
        if (string.IsNullOrWhiteSpace(name))
            return Nameless;

        var clean = NameCleaner.Clean(name, windowsSafe);
        while (Encoding.UTF8.GetByteCount(clean) > MaxBytes)
            clean = clean[..^(char.IsLowSurrogate(clean[^1]) ? 2 : 1)];
        return NameCleaner.Clean(clean, windowsSafe);
    }

    /// <summary>The name itself, or with the first number that makes it free.</summary>
    /// <param name="name">A clean name.</param>
    /// <param name="isTaken">Whether a name is in use.</param>
    public static string FindFree(string name, Func<string, bool> isTaken)
    {
        var candidate = name;
        for (var number = 2; isTaken(candidate); number++)
            candidate = string.Create(CultureInfo.InvariantCulture, $"{name} ({number})");
        return candidate;
    }

    /// <summary>
    /// Whether clients would take a folder above the release for the release itself: they walk up its path to the topmost
    /// folder of its name, and later delete that one with everything in it.
    /// </summary>
    /// <param name="name">Name of the release.</param>
    /// <param name="category">Its category folder.</param>
    /// <param name="completeDir">The folder that clients are told.</param>
    public static bool IsAmbiguous(string name, string category, string completeDir) =>
        name.Equals(category, StringComparison.OrdinalIgnoreCase)
        || completeDir.Split('/', '\\').Contains(name, StringComparer.OrdinalIgnoreCase);
}
