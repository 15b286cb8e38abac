using System.Data.Common;
using Sluice.Server.History;
using Sluice.Server.Library;

namespace Sluice.Server.Queue.Steps;

/// <summary>Finds the release that an earlier item made from the same NZB (IMP-45). A repeated grab gets its own item and links, but no second files.</summary>
internal sealed class SameReleases(ItemPasswords passwords, ReleaseOpenings openings)
{
    /// <summary>Reuses the files of an earlier release with the same NZB, password and category, if it has all files of the named release.</summary>
    /// <remarks>Runs in the caller's transaction. The import has already checked the articles.</remarks>
    public NamedRelease Apply(DbConnection connection, QueueItem item, NamedRelease named)
    {
        foreach (var release in LibraryStore.FindByNzb(connection, named.Category, item.NzbHash))
        {
            if (!HasPassword(connection, release, item))
                continue;
            var files = LibraryStore.ListFiles(connection, release).DistinctBy(file => file.ETag).ToDictionary(file => file.ETag);
            if (named.Files.All(file => files.ContainsKey(file.ETag)))
                return named with { Same = release, Files = [.. named.Files.Select(file => file with { Id = files[file.ETag].Id, Path = files[file.ETag].Path })] };
        }

        return named;
    }

    /// <summary>
    /// Replaces a shared release's unverified maps from an old server with the maps of this import. Otherwise a later opening could refuse the release and fail
    /// the item (IMP-36). Returns the folders of earlier items whose links appear again. Runs in the caller's transaction, before the insert.
    /// </summary>
    public IReadOnlyList<ItemFolder> Open(DbConnection connection, Release release, ReleasePlan plan)
    {
        if (!LibraryStore.IsUnproved(connection, release.Id))
            return [];
        var files = LibraryStore.ListFiles(connection, release);
        var contents = FileMatch.Find(files, plan.Files);
        LibraryStore.ReplaceContents(connection, release, plan.PostedFilesOf(contents.Values), contents);
        if (contents.Count == files.Count)
            openings.Settle(connection, release, refusal: null);
        return HistoryStore.SetFailure(connection, release.Id, failure: null);
    }

    /// <summary>
    /// Whether an item of the release had the same password. An unreadable password never matches, because the import must not wait for its key. If the release
    /// has no items, any password matches, because this one has opened the same files.
    /// </summary>
    private bool HasPassword(DbConnection connection, Release release, QueueItem item)
    {
        var kept = HistoryStore.ListPasswords(connection, release.Id);
        return kept.Count == 0 || kept.Any(other => passwords.FindPlain(other.Id, other.Password) == passwords.Open(item));
    }
}
