using System.Data.Common;
using Sluice.Server.History;
using Sluice.Server.Library;

namespace Sluice.Server.Queue.Steps;

/// <summary>
/// Finds the release that an earlier item made from the same NZB (IMP-45). A program that grabs an NZB again then gets a history item and links of its
/// own, and nothing is in the library twice.
/// </summary>
internal sealed class SameReleases(ItemPasswords passwords)
{
    /// <summary>Replaces the files of a named release by those of an earlier one with the same NZB, password and category, if it has them all.</summary>
    /// <remarks>Runs in the caller's transaction. The import of the item has already checked the articles.</remarks>
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

    /// <summary>Whether an item of the release had the same password. If none is left to compare, the password has opened the same files.</summary>
    private bool HasPassword(DbConnection connection, Release release, QueueItem item)
    {
        var kept = HistoryStore.ListPasswords(connection, release.Id);
        return kept.Count == 0 || kept.Any(other => passwords.Require(other.Id, other.Password) == passwords.Open(item));
    }
}
