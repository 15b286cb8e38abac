using System.Data.Common;
using System.Globalization;
using System.Text;
using Sluice.Server.Library;
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

/// <summary>Finds the name of a release that is about to be published.</summary>
internal sealed class ReleaseNames(CompleteFolder completeFolder)
{
    /// <summary>The name, as part of the caller's transaction.</summary>
    /// <param name="connection">The caller's.</param>
    /// <param name="item">The item.</param>
    /// <param name="title">What the NZB calls it, or null: it counts where no client has named the item and its own name says nothing (IMP-13).</param>
    /// <param name="windowsSafe">Whether names are cleaned for Windows as well.</param>
    /// <returns>What files are called after, and the name of the folder, which may have a number behind that.</returns>
    public (string Title, string Name) Find(DbConnection connection, QueueItem item, string? title, bool windowsSafe)
    {
        bool IsTaken(string name) =>
            LibraryStore.Contains(connection, item.Folder, name) || ReleaseName.IsAmbiguous(name, item.Folder, completeFolder.Path);

        if (title is not null && !item.Named && NameJudge.IsObfuscated(item.Name + AnyExtension)
            && ItemName.Parse(title).Name is { Length: > 0 } better)
        {
            var clean = ReleaseName.Clean(better, windowsSafe);
            return (clean, ReleaseName.FindFree(clean, IsTaken));
        }

        // A number that the queue gave is no part of the name that the next one counts from.
        return (item.Name, IsTaken(item.Name) ? ReleaseName.FindFree(ItemName.Parse(item.NzbName).Name, IsTaken) : item.Name);
    }

    // A name without extension counts as obfuscated, and releases have none.
    private const string AnyExtension = ".mkv";
}
