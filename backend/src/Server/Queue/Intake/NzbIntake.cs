using System.Data.Common;
using Microsoft.Extensions.Options;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>
/// The only way to add an NZB (IMP-1). Success means that the NZB is on disk and its row is committed (IMP-2). If a client sends an address, the row is stored
/// first and the NZB is fetched later.
/// </summary>
internal sealed class NzbIntake(
    UploadReceiver receiver,
    SluiceDatabase database,
    QueueSchedule schedule,
    QueueRemoval removal,
    CategoryRules categories,
    ItemPasswords passwords,
    AcceptedLog accepted,
    IOptionsMonitor<ApiOptions> api,
    IOptionsMonitor<QueueOptions> queue,
    IOptionsMonitor<WebDavOptions> webDav,
    TimeProvider time)
{
    private const string IdPrefix = "SABnzbd_nzo_";

    // Written only in transactions, which run one at a time. Reads outside a transaction only allow an early refusal.
    private volatile bool _full;

    /// <param name="body">The upload. It need not be seekable and stays open.</param>
    /// <param name="length">Length in bytes; null if unknown.</param>
    public async Task<AddOutcome> AddAsync(Stream body, long? length, NzbAddition addition, CancellationToken cancellationToken)
    {
        await using var upload = await ReceiveAsync(body, length, addition.IsFile, cancellationToken);
        return await AcceptAsync(upload, addition, cancellationToken);
    }

    /// <summary>First half of an add: stores the body as blobs, for callers that learn the other properties later.</summary>
    public Task<NzbUpload> ReceiveAsync(Stream body, long? length, CancellationToken cancellationToken) =>
        ReceiveAsync(body, length, keepsPacked: false, cancellationToken);

    /// <summary>Second half of an add: one transaction adds all NZBs of an upload, or none.</summary>
    public async Task<AddOutcome> AcceptAsync(NzbUpload upload, NzbAddition addition, CancellationToken cancellationToken)
    {
        if (upload.Refusal is { } refusal)
            return AddOutcome.Refused(refusal);

        Failpoint.Reach("add-received");
        addition = addition with { Category = categories.Resolve(addition.Category) };
        var (displaced, added) = (new List<QueueItem>(), new List<QueueItem>());
        var outcome = await AddAsync(connection => Accept(connection, upload, addition, displaced, added), displaced, cancellationToken);
        NoteNames(added);
        return outcome;
    }

    /// <summary>Adds an item for an NZB that is fetched later (SAB-25).</summary>
    /// <param name="name">Temporary name until the NZB is fetched.</param>
    /// <param name="seal">Encrypts the address for the row with this id.</param>
    public Task<AddOutcome> AddUrlAsync(string name, Func<string, string> seal, NzbAddition addition, CancellationToken cancellationToken)
    {
        addition = addition with { FileName = name, Category = categories.Resolve(addition.Category) };
        var item = Describe(new UploadedNzb(null, null, null), addition, isOnly: true);
        item = item with { NzbName = addition.Name is null ? "" : item.NzbName, Url = seal(item.Id) };
        return AddAsync(
            connection =>
            {
                if (IsFull(QueueStore.Count(connection)))
                    return AddOutcome.Refused(AddRefusal.QueueFull);
                Insert(connection, item, file: null);
                return new AddOutcome([item.Id], Replaced: false, null);
            },
            [],
            cancellationToken);
    }

    /// <summary>Sets the fetched NZB of an item in one transaction. If the upload has several NZBs, the first keeps the id (SAB-25).</summary>
    /// <param name="upload">The upload, which must not be a refusal.</param>
    /// <returns>Why to retry later; null if the NZB was set or the item has left the queue.</returns>
    public async Task<AddRefusal?> AcceptFetchedAsync(string id, NzbUpload upload, string fileName)
    {
        // Do not cancel, because the NZB is already stored.
        var added = new List<QueueItem>();
        var outcome = await AddAsync(connection => AcceptFetched(connection, id, upload, fileName, added), [], CancellationToken.None);
        NoteNames(added);
        return outcome.Refusal;
    }

    /// <summary>Records the names of added items, because a restored backup may lack their rows.</summary>
    private void NoteNames(List<QueueItem> added) =>
        accepted.Append([.. added.Where(item => item.NzbHash.Length > 0).Select(item => new AcceptedNzb(item.NzbHash, item.Name, item.Category, item.AddedAt))]);

    private async Task<NzbUpload> ReceiveAsync(Stream body, long? length, bool keepsPacked, CancellationToken cancellationToken)
    {
        // Refuse early so that the body need not be read. The transaction makes the final decision (IMP-4).
        if (queue.CurrentValue.MaxItems > 0 && WouldBeFull(await database.ReadAsync(QueueStore.Count, cancellationToken)))
            return NzbUpload.Refused(AddRefusal.QueueFull);
        return await receiver.ReceiveAsync(body, length, keepsPacked, cancellationToken);
    }

    private async Task<AddOutcome> AddAsync(Func<DbConnection, AddOutcome> add, List<QueueItem> displaced, CancellationToken cancellationToken)
    {
        try
        {
            var outcome = await database.WriteAsync(add, cancellationToken);
            Failpoint.Reach("add-committed");
            if (outcome.Refusal is null)
            {
                schedule.Wake();
                // Cancel running imports of the replaced items.
                await removal.SettleAsync(displaced);
            }

            return outcome;
        }
        catch (StorageException e) when (e.Fault == StorageFault.Full)
        {
            return AddOutcome.Refused(AddRefusal.DiskFull);
        }
    }

    private AddOutcome Accept(DbConnection connection, NzbUpload upload, NzbAddition addition, List<QueueItem> displaced, List<QueueItem> added)
    {
        if (IsFull(QueueStore.Count(connection)))
            return AddOutcome.Refused(AddRefusal.QueueFull);

        var folder = categories.FolderOf(addition.Category);
        var before = addition.IsFile ? QueueFileStore.Find(connection, folder, addition.FileName) : null;
        if (before is not null && !addition.MayReplace)
            return AddOutcome.Refused(AddRefusal.NameTaken);
        if (before is not null && before.Hash == upload.Original?.Hash)
            return new AddOutcome([.. QueueStore.ListFile(connection, before.Id).Select(item => item.Id)], Replaced: true, null);
        // Replace the earlier file only by a valid NZB. Invalid uploads fail in the history.
        if (before is not null && upload.Nzbs.Any(nzb => nzb.Failure is null))
            displaced.AddRange(QueueStore.RemoveFile(connection, folder, addition.FileName));

        var ids = new List<string>(upload.Nzbs.Count);
        long? file = null;
        foreach (var nzb in upload.Nzbs)
        {
            var item = Describe(nzb, addition, isOnly: upload.Nzbs.Count == 1);
            // Merge equal NZBs within a file and among items without a file, but never across files.
            var equal = nzb.Failure is null && (!addition.IsFile || file is not null) ? QueueStore.FindEqual(connection, item, file) : null;
            ids.Add(equal ?? item.Id);
            if (equal is not null)
                continue;

            if ((nzb.Failure ?? FindDuplicate(connection, item)) is { } failure)
            {
                HistoryStore.Insert(connection, FailedItem.Of(item, failure, [], time.WallTime()));
                continue;
            }

            if (addition.IsFile)
                file ??= QueueFileStore.Insert(connection, DescribeFile(upload, addition, folder, before));
            Insert(connection, item, file);
            added.Add(item);
            Failpoint.Reach("add-inserted");
            // Set before the commit, so that the worker cannot start the item. If the commit fails, this delay simply expires.
            if (addition.HoldsStart)
                schedule.Hold(item.Id);
        }

        if (addition.Source is { } source)
            WatchedFileStore.Insert(connection, source);
        return new AddOutcome(ids, before is not null, null);
    }

    private AddOutcome AcceptFetched(DbConnection connection, string id, NzbUpload upload, string fileName, List<QueueItem> added)
    {
        // Read the item again, because a client may have changed or removed it.
        if (QueueStore.Find(connection, id) is not { Url: not null } waiting)
            return new AddOutcome([], Replaced: false, null);

        var addition = new NzbAddition
        {
            FileName = fileName,
            Name = waiting.NzbName.Length == 0 ? null : waiting.NzbName,
            Category = waiting.Category,
            Priority = waiting.Priority,
            Paused = waiting.Paused,
            Password = passwords.Open(waiting),
            PostProcessing = waiting.PostProcessing,
            Script = waiting.Script,
        };
        var ids = new List<string>(upload.Nzbs.Count);
        foreach (var nzb in upload.Nzbs)
        {
            var isFirst = ids.Count == 0;
            var item = Describe(nzb, addition, isOnly: upload.Nzbs.Count == 1, isFirst ? id : null) with { Folder = waiting.Folder, AddedAt = waiting.AddedAt };
            ids.Add(item.Id);
            if ((nzb.Failure ?? FindDuplicate(connection, item)) is { } failure)
            {
                if (isFirst)
                    QueueStore.Remove(connection, id);
                HistoryStore.Insert(connection, FailedItem.Of(item, failure, [], time.WallTime()));
            }
            else if (isFirst)
            {
                added.Add(item);
                QueueFetchStore.SetNzb(connection, item, QueueFileStore.InsertFor(connection, item));
                Failpoint.Reach("fetch-inserted");
            }
            else
            {
                added.Add(item);
                Insert(connection, item, null);
            }
        }

        return new AddOutcome(ids, Replaced: false, null);
    }

    /// <summary>Adds an item, in the caller's transaction.</summary>
    /// <param name="file">Row of the item's file; null to create one. Ignored for an item with an address.</param>
    internal static void Insert(DbConnection connection, QueueItem item, long? file)
    {
        // An item without an NZB has no file.
        if ((item.Url is null ? file : 0) is { } known)
            QueueStore.Insert(connection, item, known);
        else
            QueueStore.Insert(connection, item);
    }

    private QueueFile DescribeFile(NzbUpload upload, NzbAddition addition, string folder, QueueFile? before)
    {
        var content = upload.Original ?? throw new InvalidOperationException("An upload with several NZBs is kept as it came.");
        return new QueueFile
        {
            Folder = folder,
            Name = addition.FileName,
            Hash = content.Hash,
            Length = content.PlainLength,
            Packed = upload.Raw is not null,
            AddedAt = time.WallTime(),
            // Properties belong to the URL (RFC 4918, section 9.7.1), so they outlive the content.
            Properties = before?.Properties ?? "",
        };
    }

    private ImportFailure? FindDuplicate(DbConnection connection, QueueItem item) =>
        api.CurrentValue.FailDuplicates
        && (QueueStore.Contains(connection, item.Folder, item.Name, item.Id) || LibraryStore.Contains(connection, item.Folder, item.Name))
            ? ImportFailure.DuplicateRelease()
            : null;

    private QueueItem Describe(UploadedNzb nzb, NzbAddition addition, bool isOnly, string? known = null)
    {
        // The client's name applies only if the upload has a single NZB. NZBs in a zip keep their own names.
        var outer = ItemName.Parse(addition.IsFile ? addition.FileName : LastName(addition.FileName));
        var given = ((isOnly ? addition.Name : null) ?? nzb.MemberName) is { } own ? ItemName.Parse(own) : outer;
        var name = ReleaseName.Clean(given.Name, webDav.CurrentValue.WindowsSafePaths);
        var id = known ?? IdPrefix + Guid.NewGuid().ToString("N");
        return new QueueItem
        {
            Id = id,
            Name = name,
            NzbName = name + ".nzb",
            Named = isOnly && addition.Name is not null,
            Category = addition.Category,
            Folder = categories.FolderOf(addition.Category),
            Priority = addition.Priority,
            Paused = addition.Paused,
            Password = passwords.Seal(
                id, QueueItem.LimitPassword(string.IsNullOrEmpty(addition.Password) ? given.Password ?? outer.Password ?? "" : addition.Password)),
            PostProcessing = addition.PostProcessing,
            Script = QueueItem.LimitScript(addition.Script),
            NzbHash = nzb.Blob?.Hash ?? "",
            NzbLength = nzb.Blob?.PlainLength ?? 0,
            AddedAt = time.WallTime(),
        }.With(nzb.Measure);
    }

    private bool IsFull(int items) => _full = WouldBeFull(items);

    private bool WouldBeFull(int items)
    {
        var options = queue.CurrentValue;
        if (options.MaxItems == 0)
            return false;

        // Without a threshold, a full queue accepts items again as soon as one slot is free.
        var resumeAt = options.ResumeThreshold == 0 ? options.MaxItems - 1 : options.ResumeThreshold;
        return _full ? items > resumeAt : items >= options.MaxItems;
    }

    private static string LastName(string path) => path[(path.LastIndexOf('\\') + 1)..];
}
