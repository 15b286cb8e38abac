namespace Sluice.Server.FamilyImport;

/// <summary>A file with its path inside the release, as it was on the old server.</summary>
internal sealed record FamilyFile(FamilyItem Item, IReadOnlyList<string> Names);

/// <summary>The files in one folder below a category. The history refers to a release by its folder id; null if it has none.</summary>
internal sealed record FamilyRelease(string Category, string Name, Guid? Folder, IReadOnlyList<FamilyFile> Files)
{
    /// <summary>Whether the files were outside a release folder on the old server.</summary>
    public bool IsMoved { get; init; }
}

/// <summary>Finds the releases in the old tree.</summary>
internal static class FamilyTree
{
    // The category of files outside any category.
    private const string NoCategory = "uncategorized";
    private const string ContentName = "content";
    private const int MostFolders = 64;

    private static readonly Guid Root = Guid.Empty;
    private static readonly Guid Content = new("00000000-0000-0000-0000-000000000002");

    /// <summary>
    /// Returns all releases, sorted by first file id. If an id occurs more than once, the first entry counts, and <paramref name="repeated"/> lists the others.
    /// </summary>
    public static IReadOnlyList<FamilyRelease> Releases(IReadOnlyList<FamilyItem> items, out IReadOnlyList<FamilyItem> repeated)
    {
        var byId = new Dictionary<Guid, FamilyItem>(items.Count);
        var again = new List<FamilyItem>();
        foreach (var item in items)
        {
            if (!byId.TryAdd(item.Id, item) && item.Kind != FamilyKind.Folder)
                again.Add(item);
        }

        repeated = again;
        var found = new Dictionary<(Guid?, string, string), (List<FamilyFile> Files, bool IsMoved)>();
        foreach (var item in byId.Values.Where(item => item.Kind != FamilyKind.Folder).OrderBy(item => item.Id))
        {
            var (folder, names) = Place(item, byId);
            var isMoved = names.Count < 3;
            if (isMoved)
                names = [names.Count == 2 ? names[0] : NoCategory, StemOf(names[^1]), names[^1]];
            var key = (isMoved ? null : folder, names[0], names[1]);
            if (!found.TryGetValue(key, out var release))
                found[key] = release = ([], isMoved);
            release.Files.Add(new FamilyFile(item, names[2..]));
        }

        return [.. found.Select(release => new FamilyRelease(release.Key.Item2, release.Key.Item3, release.Key.Item1, release.Value.Files) { IsMoved = release.Value.IsMoved })];
    }

    /// <summary>Returns the path from the category to the file, and the id of the release folder.</summary>
    private static (Guid? Release, List<string> Names) Place(FamilyItem item, Dictionary<Guid, FamilyItem> byId)
    {
        var own = item.Name.Length > 0 ? item.Name : item.Path is { } known && known.Split('/')[^1] is { Length: > 0 } last ? last : item.Id.ToString("D");
        List<FamilyItem> folders = [];
        for (var parent = item.Parent; folders.Count < MostFolders; parent = folders[^1].Parent)
        {
            if (parent is not { } id || !byId.TryGetValue(id, out var folder) || id == Root)
                break;
            if (IsContent(folder))
                return (folders.Count >= 2 ? folders[^2].Id : null, [.. Enumerable.Reverse(folders).Select(above => above.Name), own]);
            folders.Add(folder);
        }

        // The chain of parents is broken, so use the whole path that newer databases store.
        return item.Path?.Split('/', StringSplitOptions.RemoveEmptyEntries) is [ContentName, .. { Length: > 0 } inner] ? (null, [.. inner[..^1], own]) : (null, [own]);
    }

    private static bool IsContent(FamilyItem folder) => folder.Id == Content || (folder.Parent == Root && folder.Name == ContentName);

    private static string StemOf(string name) => Path.GetFileNameWithoutExtension(name) is { Length: > 0 } stem ? stem : name;
}
