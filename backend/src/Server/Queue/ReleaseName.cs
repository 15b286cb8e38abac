using System.Data.Common;
using System.Globalization;
using System.Text;
using Sluice.Server.Library;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue;

/// <summary>Chooses the folder name of a release (IMP-44, SAB-42).</summary>
internal static class ReleaseName
{
    // Leaves room for a number and for the extension of the queue file.
    private const int MaxBytes = NameCleaner.MaxBytes - 15;

    private const string Nameless = "Unnamed";

    /// <summary>Returns the name without invalid characters; it may be taken.</summary>
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

    /// <summary>
    /// Whether clients would confuse a parent folder with the release. They walk up the path to the topmost folder of that name and later delete it
    /// with all its content.
    /// </summary>
    /// <param name="category">Its category folder.</param>
    /// <param name="completeDir">The folder of finished releases as clients know it.</param>
    public static bool IsAmbiguous(string name, string category, string completeDir) =>
        name.Equals(category, StringComparison.OrdinalIgnoreCase)
        || completeDir.Split('/', '\\').Contains(name, StringComparer.OrdinalIgnoreCase);
}

/// <summary>Chooses the name of a release when it is published.</summary>
internal sealed class ReleaseNames(CompleteFolder completeFolder)
{
    /// <summary>Chooses the name, in the caller's transaction.</summary>
    /// <param name="title">Title in the NZB, or null. Used if no client named the item and its own name is obfuscated (IMP-13).</param>
    /// <returns>The title that files are named after, and the folder name, which may have a number appended.</returns>
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

        // A number added by the queue is dropped first, so that numbers do not pile up.
        return (item.Name, IsTaken(item.Name) ? ReleaseName.FindFree(ItemName.Parse(item.NzbName).Name, IsTaken) : item.Name);
    }

    // A name without extension would count as obfuscated.
    private const string AnyExtension = ".mkv";
}
