using System.Data.Common;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Outbound;
using Sluice.Server.Queue;

namespace Sluice.Server.FamilyImport;

/// <summary>
/// Repairs an import by an earlier version, which skipped partly read files and took total encoded bytes for lengths. Adds skipped files under their
/// old ids and reopens files with doubtful lengths. Everything else stays unchanged, because the user may have changed it.
/// </summary>
internal sealed class LibraryHealing(
    SluiceDatabase database,
    StoredNzbs stored,
    ReleaseTaker releases,
    ReleaseNames names,
    ItemPasswords passwords,
    ReleaseOpenings openings,
    RcloneNotifier rclone)
{
    /// <summary>
    /// Repairs the library. Returns the names of all skipped files now listed, even if an interrupted run added them. Cancels only between releases.
    /// </summary>
    /// <exception cref="FamilyFormatException">The old library exceeds the limit.</exception>
    /// <exception cref="StorageException">The repaired data cannot be written.</exception>
    public async Task<IReadOnlySet<string>> HealAsync(FamilySource source, CancellationToken cancellationToken)
    {
        var items = source.Store.ReadHistory(out _).Where(item => item.Folder is not null).ToLookup(item => item.Folder!.Value);
        var listed = new HashSet<string>();
        foreach (var release in FamilyTree.Releases(source.Store.ReadItems(out _), out _))
        {
            cancellationToken.ThrowIfCancellationRequested();
            listed.UnionWith(await HealAsync(source, release, release.Folder is { } folder ? [.. items[folder]] : [], cancellationToken));
        }

        openings.Added.Set();
        return listed;
    }

    private async Task<IEnumerable<string>> HealAsync(FamilySource source, FamilyRelease release, IReadOnlyList<FamilyHistory> items, CancellationToken cancellationToken)
    {
        var whole = new WholeFiles();
        FamilyImporter.Judge(source, release, whole, new ImportTally());
        if (!whole.Files.Any(file => file.IsLazy))
            return [];
        await using var lease = stored.BeginUpload();
        var item = items is [.., var last] ? last : null;
        var at = FamilyImporter.TimeOf(release, item);
        try
        {
            var nzb = await FindNzbAsync(source, release, item, whole, lease, cancellationToken) ?? await releases.WriteAsync(release, whole, at, lease, cancellationToken);
            var described = ReleaseTaker.Describe(release, whole, nzb);
            var unread = whole.Files.Where(file => file.Stretches.Count == 0).Select(file => file.Id).ToHashSet();
            var password = passwords.Seal(described.NzbHash, FamilyImporter.PasswordOf(whole, item));
            if (!described.Files.Any(file => file.Content.IsUnopened))
                return [];
            var (healed, listed) = await database.WriteAsync(
                connection =>
                {
                    var changed = Heal(connection, described, unread, items, password, at);
                    return (changed, unread.Where(file => LibraryStore.FindReleaseOf(connection, [file]) is not null).ToHashSet());
                },
                cancellationToken);
            if (healed is { } known)
                rclone.ReleaseChanged(known.Category, known.Name);
            return whole.Files.Where(file => listed.Contains(file.Id)).Select(file => ImportTally.NameOf(release, file.Names));
        }
        catch (FamilyFormatException)
        {
            // Leave the release unchanged, because its description is unusable.
            return [];
        }
    }

    private async Task<TakenNzb?> FindNzbAsync(
        FamilySource source, FamilyRelease release, FamilyHistory? item, WholeFiles whole, StoredNzbs.UploadLease lease, CancellationToken cancellationToken)
    {
        var blob = release.Files.Select(file => file.Item.Nzb).FirstOrDefault(id => id is not null) ?? item?.Nzb;
        await using var plain = blob is null && item is not { HasNzbText: true } ? null : source.OpenNzb(blob, item?.Id);
        return plain is null ? null : await releases.StoreAsync(plain, whole.Posts, lease, cancellationToken);
    }

    /// <returns>The changed release; null if nothing changed.</returns>
    private Release? Heal(
        DbConnection connection, NewRelease described, HashSet<Guid> unread, IReadOnlyList<FamilyHistory> items, string password, DateTimeOffset at)
    {
        var known = LibraryStore.FindReleaseOf(connection, described.Files.Select(file => file.Id));
        // Message-ids are located by their position in one NZB, so the release must use that NZB.
        if (known is not null && known.NzbHash != described.NzbHash)
            return null;
        var doubtful = known is null
            ? 0
            : described.Files.Count(file => file.Content.IsUnopened && !unread.Contains(file.Id) && LibraryStore.Close(connection, known.Id, file.Id));
        List<NewLibraryFile> missing =
        [
            .. described.Files.Where(file => unread.Contains(file.Id) && LibraryStore.FindReleaseOf(connection, [file.Id]) is null
                && (known is null || !LibraryStore.HasPath(connection, known.Id, file.Path))),
        ];
        // An interrupted import may have added the history items before the release, so link them now.
        if (missing.Count + doubtful == 0)
        {
            Link(connection, items, known);
            return null;
        }

        var added = described with { PostedFiles = [], Files = missing };
        if (known is not null)
            LibraryStore.Insert(connection, known.Id, added with { Name = known.Name, Category = known.Category }, known.PublishedAt);
        else
            known = ReleaseTaker.Insert(connection, added, at);
        Link(connection, items, known);
        ReleaseOpenings.Add(connection, known.Id, password);
        return known;
    }

    private void Link(DbConnection connection, IReadOnlyList<FamilyHistory> items, Release? release)
    {
        if (release is null)
            return;
        foreach (var item in items.Select(item => item.Id.ToString("D")))
            HistoryStore.Link(connection, item, release, names.FindFolder(connection, release.Category, release.Name, release, item));
    }
}
