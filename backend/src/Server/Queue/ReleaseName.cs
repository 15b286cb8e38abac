using System.Data.Common;
using System.Globalization;
using System.Text;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue;

/// <summary>Chooses the folder name of a release (IMP-44, SAB-42).</summary>
internal static class ReleaseName
{
    // Leaves space for an appended number and the extension of the queue file.
    private const int MaxBytes = NameCleaner.MaxBytes - 15;

    private const string Nameless = "Unnamed";

    /// <summary>Returns the name without invalid characters. Another release may have the same name.</summary>
    public static string Clean(string name, bool windowsSafe)
    {
        if (string.IsNullOrWhiteSpace(name))
            return Nameless;

        var clean = NameCleaner.Clean(name, windowsSafe);
        while (Encoding.UTF8.GetByteCount(clean) > MaxBytes)
            clean = clean[..^(char.IsLowSurrogate(clean[^1]) ? 2 : 1)];
        return NameCleaner.Clean(clean, windowsSafe);
    }

    /// <summary>Returns the name, with a number appended if it is taken.</summary>
    public static string FindFree(string name, Func<string, bool> isTaken)
    {
        var candidate = name;
        for (var number = 2; isTaken(candidate); number++)
            candidate = string.Create(CultureInfo.InvariantCulture, $"{name} ({number})");
        return candidate;
    }

    /// <summary>Whether a string is the name, possibly with a number appended.</summary>
    public static bool IsNumbered(string text, string name)
    {
        if (!text.StartsWith(name, StringComparison.Ordinal) || text.Length == name.Length)
            return text == name;
        return text.AsSpan(name.Length) is [' ', '(', .. var number, ')'] && int.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out _);
    }

    /// <summary>
    /// Whether clients would mistake a parent folder for the release folder, because they walk up the path to the topmost folder of that name. They later
    /// delete that folder with everything in it.
    /// </summary>
    /// <param name="completeDir">The folder of finished releases in the client's file system.</param>
    public static bool IsAmbiguous(string name, string category, string completeDir) =>
        name.Equals(category, StringComparison.OrdinalIgnoreCase) || IsPart(name, completeDir);

    // Allocation-free, because history lists call it for each item.
    private static bool IsPart(string name, ReadOnlySpan<char> path)
    {
        foreach (var part in path.SplitAny('/', '\\'))
        {
            if (path[part].Equals(name, StringComparison.OrdinalIgnoreCase))
                return true;
        }

        return false;
    }
}

/// <summary>Chooses the folder and file names of a release at publication.</summary>
internal sealed class ReleaseNames(CompleteFolder completeFolder)
{
    /// <summary>Returns the name of an item. Its files are named after it too.</summary>
    /// <param name="title">Title in the NZB, or null. Replaces an obfuscated name unless a client chose that name (IMP-13).</param>
    public static string Choose(QueueItem item, string? title, bool windowsSafe) =>
        title is not null && !item.Named && NameJudge.IsObfuscated(item.Name + AnyExtension) && ItemName.Parse(title).Name is { Length: > 0 } better
            ? ReleaseName.Clean(better, windowsSafe)
            : item.Name;

    /// <summary>Finds a folder name that no release and no item's links use. Runs in the caller's transaction.</summary>
    /// <param name="own">The item's existing release, whose folder name counts as free; null if it has none.</param>
    /// <param name="itemId">The history item, whose own folder name counts as free.</param>
    public string FindFolder(DbConnection connection, string category, string name, Release? own, string itemId = "") => ReleaseName.FindFree(
        name,
        folder => (folder != own?.Name && LibraryStore.Contains(connection, category, folder))
            || CompletedStore.IsClaimed(connection, category, folder, own?.Id ?? 0, itemId)
            || ReleaseName.IsAmbiguous(folder, category, completeFolder.Path));

    // The check treats a name without extension as obfuscated.
    private const string AnyExtension = ".mkv";
}
