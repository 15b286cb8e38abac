using System.Data.Common;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Queue;

namespace Sluice.Server.FamilyImport;

/// <summary>
/// Repairs an import that an earlier version made. It left out files that the old server had not read completely, and believed lengths that were sums
/// of encoded bytes. The first are added under their old ids, the second become unopened. Everything else stays as the user has it now.
/// </summary>
internal sealed class LibraryHealing(
    SluiceDatabase database, StoredNzbs stored, ReleaseTaker releases, ReleaseNames names, ItemPasswords passwords, ReleaseOpenings openings)
{
    /// <summary>Heals the library. Returns how many left-out files are listed now. Cancellation works between two releases.</summary>
    /// <exception cref="FamilyFormatException">The old library exceeds the limit.</exception>
    /// <exception cref="StorageException">Something cannot be written.</exception>
    public async Task<int> HealAsync(FamilySource source, CancellationToken cancellationToken)
    {
        var items = source.Store.ReadHistory(out _).Where(item => item.Folder is not null).GroupBy(item => item.Folder!.Value).ToDictionary(group => group.Key, group => group.Last());
        var added = 0;
        foreach (var release in FamilyTree.Releases(source.Store.ReadItems(out _), out _))
        {
            cancellationToken.ThrowIfCancellationRequested();
            added += await HealAsync(source, release, release.Folder is { } folder ? items.GetValueOrDefault(folder) : null, cancellationToken);
        }

        openings.Added.Set();
        return added;
    }

    private async Task<int> HealAsync(FamilySource source, FamilyRelease release, FamilyHistory? item, CancellationToken cancellationToken)
    {
        var whole = new WholeFiles();
        FamilyImporter.Judge(source, release, whole, new ImportTally());
        if (!whole.Files.Any(file => file.IsLazy))
            return 0;
        await using var lease = stored.BeginUpload();
        var at = FamilyImporter.TimeOf(release, item);
        try
        {
            var nzb = await FindNzbAsync(source, release, item, whole, lease, cancellationToken) ?? await releases.WriteAsync(release, whole, at, lease, cancellationToken);
            var described = ReleaseTaker.Describe(release, whole, nzb);
            var unread = whole.Files.Where(file => file.Stretches.Count == 0).Select(file => file.Id).ToHashSet();
            var password = passwords.Seal(described.NzbHash, FamilyImporter.PasswordOf(whole, item));
            return described.Files.Any(file => file.Content.IsUnopened)
                ? await database.WriteAsync(connection => Heal(connection, described, unread, item, password, at), cancellationToken)
                : 0;
        }
        catch (FamilyFormatException)
        {
            // The release stays as it is.
            return 0;
        }
    }

    private async Task<TakenNzb?> FindNzbAsync(
        FamilySource source, FamilyRelease release, FamilyHistory? item, WholeFiles whole, StoredNzbs.UploadLease lease, CancellationToken cancellationToken)
    {
        var blob = release.Files.Select(file => file.Item.Nzb).FirstOrDefault(id => id is not null) ?? item?.Nzb;
        await using var plain = blob is null && item is not { HasNzbText: true } ? null : source.OpenNzb(blob, item?.Id);
        return plain is null ? null : await releases.StoreAsync(plain, whole.Posts, lease, cancellationToken);
    }

    /// <returns>The number of added files.</returns>
    private int Heal(DbConnection connection, NewRelease described, HashSet<Guid> unread, FamilyHistory? item, string password, DateTimeOffset at)
    {
        var known = LibraryStore.FindReleaseOf(connection, described.Files.Select(file => file.Id));
        // Message-ids are found by their places in one NZB.
        if (known is not null && known.NzbHash != described.NzbHash)
            return 0;
        var doubtful = known is null
            ? 0
            : described.Files.Count(file => file.Content.IsUnopened && !unread.Contains(file.Id) && LibraryStore.Close(connection, known.Id, file.Id));
        List<NewLibraryFile> missing =
        [
            .. described.Files.Where(file => unread.Contains(file.Id) && LibraryStore.FindReleaseOf(connection, [file.Id]) is null
                && (known is null || !LibraryStore.HasPath(connection, known.Id, file.Path))),
        ];
        if (missing.Count + doubtful == 0)
            return 0;
        var added = described with { PostedFiles = [], Files = missing };
        if (known is not null)
            LibraryStore.Insert(connection, known.Id, added with { Name = known.Name, Category = known.Category }, known.PublishedAt);
        else
            known = ReleaseTaker.Insert(connection, added, at);
        if (item is not null)
        {
            var itemId = item.Id.ToString("D");
            HistoryStore.Link(connection, itemId, known, names.FindFolder(connection, known.Category, known.Name, known, itemId));
        }

        ReleaseOpenings.Add(connection, known.Id, password);
        return missing.Count;
    }
}
