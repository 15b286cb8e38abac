using System.Data.Common;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Queue;
using Sluice.Server.Settings;

namespace Sluice.Server.FamilyImport;

/// <summary>
/// Imports the data of an old server. The same code first runs a rehearsal, which only counts, and then the import. It skips ids already imported, so
/// that an interrupted import can resume and a repeated one changes nothing.
/// </summary>
internal sealed class FamilyImporter(
    SluiceDatabase database,
    StoredNzbs stored,
    ReleaseTaker releases,
    ReleaseNames names,
    SettingsStore settings,
    SettingsSource current,
    AdminStore admins,
    MadePassword made,
    CategoryRules categories,
    QueueSchedule schedule,
    MeasureWorker measuring,
    CategoryJoin joining,
    ReleaseOpenings openings,
    ItemPasswords passwords,
    IEnumerable<ISettingCheck> checks,
    ProcessOptions process)
{
    /// <summary>Converts the saved settings to this server's keys without counting them.</summary>
    public IReadOnlyDictionary<string, string?> ReadSettings(FamilySource source) => Convert(source, new ImportTally()).Values;

    /// <summary>Imports settings, and also the login unless one exists. Only counts if <paramref name="writes"/> is false.</summary>
    public async Task TakeSettingsAsync(FamilySource source, ImportTally tally, bool writes, CancellationToken cancellationToken)
    {
        var old = Convert(source, tally);
        var values = new Dictionary<string, string?>(old.Values);
        // Drop values that contradict other values, so that the rest can be saved.
        while (settings.Check(values) is { Count: > 0 } errors)
        {
            foreach (var (key, sentences) in errors)
            {
                tally.Refuse(ImportKind.Settings, key, sentences[0]);
                values.Remove(key);
            }
        }

        if (writes)
        {
            await settings.SaveAsync(values, old.Kept, cancellationToken);
            if (values.ContainsKey("webdav.pass"))
                made.Forget();
        }

        await TakeLoginsAsync(source.Store.ReadLogins(), tally, writes, cancellationToken);
    }

    // A mount set by the environment was chosen for this server, so it takes precedence over the old server's.
    private FamilySettings Convert(FamilySource source, ImportTally tally) =>
        FamilySettings.Of(source.Store.ReadSettings(), [.. checks], tally, hasMount: current.Current.Text("rclone.mount-dir") != SettingSchema.MountDir);

    /// <summary>Imports library, history and queue, or only counts them if <paramref name="writes"/> is false. Can be canceled only between releases.</summary>
    /// <exception cref="FamilyFormatException">The old library exceeds the limit.</exception>
    /// <exception cref="StorageException">The imported data cannot be written.</exception>
    public async Task TakeLibraryAsync(FamilySource source, ImportTally tally, bool writes, Action<double> progress, CancellationToken cancellationToken)
    {
        var items = source.Store.ReadItems(out var nameless);
        for (var i = 0; i < nameless; i++)
            tally.Leave(ImportKind.Files, "", "its row has no id");
        var found = FamilyTree.Releases(items, out var repeated);
        foreach (var file in repeated)
            tally.Leave(ImportKind.Files, file.Name, "another file has the same id");
        var history = source.Store.ReadHistory(out nameless);
        for (var i = 0; i < nameless; i++)
            tally.Leave(ImportKind.History, "", "its row has no id");
        var queue = source.Store.ReadQueue(out nameless);
        for (var i = 0; i < nameless; i++)
            tally.Leave(ImportKind.Queue, "", "its row has no id");
        tally.Expect(ImportKind.Files, found.Sum(release => release.Files.Count));
        tally.Expect(ImportKind.History, history.Count);
        tally.Expect(ImportKind.Queue, queue.Count);

        // Insert releases in history order, because history items are sorted by row number.
        var byFolder = found.Where(release => release.Folder is not null).ToDictionary(release => release.Folder!.Value);
        var (done, all) = (0, history.Count + found.Count + queue.Count);
        var taken = new Dictionary<Guid, TakenRelease?>();
        foreach (var item in history)
        {
            var release = item.Folder is { } folder ? byFolder.GetValueOrDefault(folder) : null;
            var known = release is not null && taken.TryGetValue(release.Folder!.Value, out var before) ? before : null;
            var isNew = release is not null && taken.TryAdd(release.Folder!.Value, null);
            var ended = await TakeReleaseAsync(source, isNew ? release : null, known, item, tally, writes, cancellationToken);
            if (isNew)
                taken[release!.Folder!.Value] = ended;
            Step();
        }

        foreach (var release in found.Where(release => release.Folder is not { } folder || !taken.ContainsKey(folder)))
        {
            await TakeReleaseAsync(source, release, null, null, tally, writes, cancellationToken);
            Step();
        }

        foreach (var item in queue)
        {
            await TakeQueueItemAsync(source, item, tally, writes, cancellationToken);
            Step();
        }

        if (writes)
        {
            schedule.Wake();
            measuring.Wake();
            openings.Added.Set();
            await joining.JoinAsync(cancellationToken);
        }

        void Step() => progress((double)++done / Math.Max(1, all));
    }

    private async Task TakeLoginsAsync(IReadOnlyList<FamilyLogin> logins, ImportTally tally, bool writes, CancellationToken cancellationToken)
    {
        var isOpen = admins.Admin is null && process.AdminPassword is null;
        foreach (var login in logins)
        {
            if (!isOpen)
                tally.Leave(ImportKind.Logins, login.Name, "this server has a login already");
            else if (login.Name.Length is 0 or > 64 || PasswordHash.OfIdentity(login.Hash, login.Salt) is not { } password)
                tally.Leave(ImportKind.Logins, login.Name, "its password is kept in a form that is not known");
            else
            {
                isOpen = false;
                tally.Take(ImportKind.Logins);
                if (writes)
                    await admins.CreateAsync(login.Name, password, "done", cancellationToken);
            }
        }
    }

    /// <summary>Imports a release, a history item, or both in one transaction. <paramref name="known"/> is the release if it was already imported.</summary>
    private async Task<TakenRelease?> TakeReleaseAsync(
        FamilySource source, FamilyRelease? release, TakenRelease? known, FamilyHistory? item, ImportTally tally, bool writes, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var whole = new WholeFiles();
        if (release is not null)
            Judge(source, release, whole, tally);
        var at = TimeOf(release, item);
        await using var lease = stored.BeginUpload();
        var nzb = await FindNzbAsync(source, release, item, whole, lease, tally, writes, cancellationToken);
        if (item is not null)
            tally.Take(ImportKind.History);
        NewRelease? described = null;
        if (whole.Files.Count > 0 && release is not null)
        {
            NoteName(release, tally);
            if (writes)
                (described, nzb) = await DescribeAsync(release, whole, nzb, at, lease, tally, cancellationToken);
            if (!writes || described is not null)
                tally.Take(ImportKind.Files, whole.Files.Count);
        }

        if (!writes)
            return null;
        return await database.WriteAsync(
            connection =>
            {
                var ended = described is null ? known : Insert(connection, described, PasswordOf(whole, item), at);
                if (item is not null)
                    Insert(connection, item, ended, nzb, PasswordOf(whole, item));
                return ended;
            },
            cancellationToken);
    }

    /// <summary>Returns when the release was added, as far as the old server recorded that.</summary>
    public static DateTimeOffset TimeOf(FamilyRelease? release, FamilyHistory? item) => item?.At ?? release?.Files.Max(file => file.Item.At) ?? DateTimeOffset.UnixEpoch;

    /// <summary>Returns the archive password of a release; empty if unknown.</summary>
    public static string PasswordOf(WholeFiles whole, FamilyHistory? item) => QueueItem.LimitPassword(
        whole.Files.Select(file => file.Password).FirstOrDefault(password => password is not null) ?? (item is null ? null : ItemName.Parse(item.NzbName).Password) ?? "");

    private async Task<(NewRelease? Release, TakenNzb? Nzb)> DescribeAsync(
        FamilyRelease release, WholeFiles whole, TakenNzb? nzb, DateTimeOffset at, StoredNzbs.UploadLease lease, ImportTally tally, CancellationToken cancellationToken)
    {
        try
        {
            nzb ??= await releases.WriteAsync(release, whole, at, lease, cancellationToken);
            return (ReleaseTaker.Describe(release, whole, nzb), nzb);
        }
        catch (FamilyFormatException e)
        {
            foreach (var file in whole.Files)
                tally.Leave(ImportKind.Files, ImportTally.NameOf(release, file.Names), e.Message);
            return (null, nzb);
        }
    }

    /// <summary>Adds the usable files of a release, and tallies the others as left behind.</summary>
    public static void Judge(FamilySource source, FamilyRelease release, WholeFiles whole, ImportTally tally)
    {
        foreach (var file in release.Files)
        {
            try
            {
                whole.Add(file, source.ReadContent(file.Item));
            }
            catch (Exception e) when (e is FamilyFormatException or OverflowException)
            {
                var reason = e is FamilyFormatException ? e.Message : "its parts have more bytes than can be";
                tally.Leave(ImportKind.Files, ImportTally.NameOf(release, file.Names), reason);
            }
        }
    }

    /// <summary>Finds the old server's NZB if it lists all files. Null in a rehearsal, or if an NZB must be written instead.</summary>
    private async Task<TakenNzb?> FindNzbAsync(
        FamilySource source, FamilyRelease? release, FamilyHistory? item, WholeFiles whole, StoredNzbs.UploadLease lease, ImportTally tally, bool writes, CancellationToken cancellationToken)
    {
        var blob = release?.Files.Select(file => file.Item.Nzb).FirstOrDefault(id => id is not null) ?? item?.Nzb;
        if (blob is null && item is not { HasNzbText: true })
            return null;
        var name = item?.NzbName ?? release!.Name;
        TakenNzb? taken = null;
        string? fault = null;
        try
        {
            await using var plain = source.OpenNzb(blob, item?.Id);
            fault = plain is null ? "its blob is missing" : "it is no NZB, or not that of its files";
            if (plain is not null && (writes
                ? (taken = await releases.StoreAsync(plain, whole.Posts, lease, cancellationToken)) is not null
                : await ReleaseTaker.IsUsableAsync(plain, whole.Posts, cancellationToken)))
            {
                tally.Take(ImportKind.Nzbs);
                return taken;
            }
        }
        catch (FamilyFormatException e)
        {
            fault = e.Message;
        }

        tally.Leave(ImportKind.Nzbs, name, whole.Files.Count > 0 ? $"{fault}; one is written from the message-ids" : fault!);
        return null;
    }

    private static void NoteName(FamilyRelease release, ImportTally tally)
    {
        var (category, name) = (ReleaseTaker.CategoryOf(release), ReleaseTaker.NameOf(release));
        if (release.IsMoved)
            tally.Note($"{name} lay outside of the folders of releases and is in {category} now; links by id still lead to it");
        else if (category != release.Category || name != release.Name)
            tally.Note($"{release.Category}/{release.Name} is called {category}/{name} here; links by id still lead to it");
    }

    private TakenRelease Insert(DbConnection connection, NewRelease release, string password, DateTimeOffset at)
    {
        if (LibraryStore.FindReleaseOf(connection, release.Files.Select(file => file.Id)) is { } before)
            return new TakenRelease(before, release.Files.Sum(file => file.Length));
        var inserted = ReleaseTaker.Insert(connection, release, at);
        var kept = passwords.Seal(release.NzbHash, password);
        if (release.Files.Any(file => file.Content.IsUnopened))
            ReleaseOpenings.Add(connection, inserted.Id, kept);
        else
            ReleaseOpenings.Keep(connection, inserted.Id, kept);
        return new TakenRelease(inserted, release.Files.Sum(file => file.Length));
    }

    private void Insert(DbConnection connection, FamilyHistory item, TakenRelease? taken, TakenNzb? nzb, string password)
    {
        var release = taken?.Release;
        var id = item.Id.ToString("D");
        if (HistoryStore.Contains(connection, id))
            return;
        var category = CategoryRules.AsSent(item.Category);
        var failure = item.IsCompleted ? null : ImportFailure.FailedBefore(item.Message);
        var folder = PathKey.OfName(release?.Category ?? categories.FolderOf(category));
        var name = release?.Name ?? ReleaseName.Clean(item.Name, windowsSafe: false);
        HistoryStore.Insert(connection, new HistoryItem
        {
            Id = id,
            Name = name,
            NzbName = item.NzbName,
            Category = category,
            Folder = folder,
            // Clients delete an item's folder, so it must be neither the category folder nor another item's folder.
            ReleaseFolder = failure is null ? PathKey.OfName(names.FindFolder(connection, folder, name, release)) : "",
            Password = passwords.Seal(id, password),
            NzbHash = nzb?.Blob.Hash ?? release?.NzbHash,
            NzbLength = nzb?.Blob.PlainLength ?? 0,
            EncodedBytes = item.Bytes,
            Bytes = failure is null ? taken?.Bytes ?? item.Bytes : item.Bytes,
            ReleaseId = failure is null ? release?.Id : null,
            Reason = failure?.Reason.ToString(),
            FailMessage = failure?.Sentence ?? "",
            View = item.IsArchived ? ClientView.Archive : ClientView.History,
            AddedAt = item.At - item.Took,
            StartedAt = item.At - item.Took,
            CompletedAt = item.At,
        });
    }

    private async Task TakeQueueItemAsync(FamilySource source, FamilyQueueItem item, ImportTally tally, bool writes, CancellationToken cancellationToken)
    {
        var name = item.NzbName.Length > 0 ? item.NzbName : item.Name;
        await using var lease = stored.BeginUpload();
        TakenNzb? nzb = null;
        var fault = "its NZB is missing";
        try
        {
            await using var plain = source.OpenNzb(item.Id, item.Id);
            var isUsable = plain is not null && (writes
                ? (nzb = await releases.StoreAsync(plain, [], lease, cancellationToken)) is not null
                : await ReleaseTaker.IsUsableAsync(plain, [], cancellationToken));
            if (isUsable)
                fault = "";
            else if (plain is not null)
                fault = "what it was added with is no NZB";
        }
        catch (FamilyFormatException e)
        {
            fault = e.Message;
        }

        if (fault.Length > 0)
        {
            tally.Leave(ImportKind.Queue, name, fault);
            tally.Leave(ImportKind.Nzbs, name, fault);
            return;
        }

        tally.Take(ImportKind.Queue);
        tally.Take(ImportKind.Nzbs);
        if (nzb is not null)
            await database.WriteAsync(connection => Insert(connection, item, nzb.Blob), cancellationToken);
    }

    private bool Insert(DbConnection connection, FamilyQueueItem item, StoredBlob blob)
    {
        var id = item.Id.ToString("D");
        if (QueueStore.Find(connection, id) is not null || HistoryStore.Contains(connection, id))
            return false;
        var category = CategoryRules.AsSent(item.Category);
        QueueStore.Insert(connection, new QueueItem
        {
            Id = id,
            Name = ReleaseName.Clean(item.Name.Length > 0 ? item.Name : ItemName.Parse(item.NzbName).Name, windowsSafe: true),
            NzbName = item.NzbName,
            Category = category,
            Folder = categories.FolderOf(category),
            NzbHash = blob.Hash,
            NzbLength = blob.PlainLength,
            // Priorities below Low mean default, duplicate and paused; import them as Normal.
            Priority = item.Priority is >= (int)QueuePriority.Low and <= (int)QueuePriority.Force ? (QueuePriority)item.Priority : QueuePriority.Normal,
            Paused = item.Priority == -2,
            Named = true,
            AddedAt = item.At,
        });
        return true;
    }

    private sealed record TakenRelease(Release Release, long Bytes);
}
