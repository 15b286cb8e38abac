using System.Data.Common;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue;

/// <summary>
/// The one door through which every NZB comes in (IMP-1). When an add has been answered, the NZB and its row are on disk:
/// first the blob, then one transaction (IMP-2).
/// </summary>
internal sealed class NzbIntake(
    UploadReceiver receiver,
    SluiceDatabase database,
    QueueSchedule schedule,
    QueueRemoval removal,
    CategoryRules categories,
    IOptionsMonitor<ApiOptions> api,
    IOptionsMonitor<QueueOptions> queue,
    IOptionsMonitor<WebDavOptions> webDav,
    TimeProvider time)
{
    private const string IdPrefix = "SABnzbd_nzo_";
    private const int MaxPassword = 1024;
    private const int MaxScript = 255;

    // Read and written by transactions only, which run one at a time.
    private bool _full;

    /// <summary>Receives an upload and adds its NZBs.</summary>
    /// <param name="body">Forward only; stays open.</param>
    /// <param name="length">Its length as far as it is known, in bytes.</param>
    /// <param name="addition">How to add it.</param>
    /// <param name="cancellationToken">Gives up while nothing has been added; then the add is carried through.</param>
    public async Task<AddOutcome> AddAsync(Stream body, long? length, NzbAddition addition, CancellationToken cancellationToken)
    {
        await using var upload = await receiver.ReceiveAsync(body, length, addition.IsFile, cancellationToken);
        return await AcceptAsync(upload, addition, cancellationToken);
    }

    /// <summary>The first half of an add, for callers that learn the rest later: the body becomes blobs.</summary>
    public Task<NzbUpload> ReceiveAsync(Stream body, long? length, CancellationToken cancellationToken) =>
        receiver.ReceiveAsync(body, length, keepsPacked: false, cancellationToken);

    /// <summary>The second half: one transaction makes the NZBs of an upload queue items, all or none.</summary>
    public async Task<AddOutcome> AcceptAsync(NzbUpload upload, NzbAddition addition, CancellationToken cancellationToken)
    {
        if (upload.Refusal is { } refusal)
            return AddOutcome.Refused(refusal);

        var displaced = new List<QueueItem>();
        try
        {
            var outcome = await database.WriteAsync(connection => Accept(connection, upload, addition, displaced), cancellationToken);
            if (outcome.Refusal is null)
            {
                schedule.Wake();
                // The replaced items may be worked on: their work is cancelled, and the new items start from the beginning.
                await removal.SettleAsync(displaced);
            }

            return outcome;
        }
        catch (StorageException e) when (e.Fault == StorageFault.Full)
        {
            return AddOutcome.Refused(AddRefusal.DiskFull);
        }
    }

    private AddOutcome Accept(DbConnection connection, NzbUpload upload, NzbAddition addition, List<QueueItem> displaced)
    {
        if (IsFull(QueueStore.Count(connection)))
            return AddOutcome.Refused(AddRefusal.QueueFull);

        var folder = categories.FolderOf(categories.Resolve(addition.Category));
        var before = addition.IsFile ? QueueFileStore.Find(connection, folder, addition.FileName) : null;
        if (before is not null && !addition.MayReplace)
            return AddOutcome.Refused(AddRefusal.NameTaken);
        if (before is not null && before.Hash == upload.AsItCame?.Hash)
            return new AddOutcome([.. QueueStore.ListFile(connection, before.Id).Select(item => item.Id)], Replaced: true, null);
        // An upload without a valid NZB replaces nothing: it fails in the history, and the file accepted before stays.
        if (before is not null && upload.Nzbs.Any(nzb => nzb.Failure is null))
            displaced.AddRange(QueueStore.RemoveFile(connection, folder, addition.FileName));

        var ids = new List<string>(upload.Nzbs.Count);
        long? file = null;
        foreach (var nzb in upload.Nzbs)
        {
            var item = Describe(nzb, addition, isOnly: upload.Nzbs.Count == 1);
            // Equal NZBs are one item within the same file and among items added without a file, never across two files.
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
            // Before the item can be seen; of one that is not added in the end the hold runs out by itself.
            if (addition.HoldsStart)
                schedule.Hold(item.Id);
        }

        return new AddOutcome(ids, before is not null, null);
    }

    private static void Insert(DbConnection connection, QueueItem item, long? file)
    {
        item = item with
        {
            Name = ReleaseName.FindFree(
                item.Name,
                name => QueueStore.Contains(connection, item.Folder, name)
                    || (file is null && QueueFileStore.Contains(connection, item.Folder, QueueFile.NameOf(name)))),
        };
        if (file is { } row)
            QueueStore.Insert(connection, item, row);
        else
            QueueStore.Insert(connection, item);
    }

    private QueueFile DescribeFile(NzbUpload upload, NzbAddition addition, string folder, QueueFile? before)
    {
        var content = upload.AsItCame ?? throw new InvalidOperationException("An upload with several NZBs is kept as it came.");
        return new QueueFile
        {
            Folder = folder,
            Name = addition.FileName,
            Hash = content.Hash,
            Length = content.PlainLength,
            Packed = upload.Raw is not null,
            AddedAt = time.WallTime(),
            // They belong to the name (RFC 4918, section 9.7.1), and so outlive the bytes.
            Properties = before?.Properties ?? "",
        };
    }

    private ImportFailure? FindDuplicate(DbConnection connection, QueueItem item) =>
        api.CurrentValue.FailDuplicates
        && (QueueStore.Contains(connection, item.Folder, item.Name) || LibraryStore.Contains(connection, item.Folder, item.Name))
            ? ImportFailure.DuplicateRelease()
            : null;

    private QueueItem Describe(UploadedNzb nzb, NzbAddition addition, bool isOnly)
    {
        // The name that a client gives is for one item; several NZBs of a zip keep their own.
        var outer = ItemName.Parse(addition.IsFile ? addition.FileName : LastName(addition.FileName));
        var given = ((isOnly ? addition.Name : null) ?? nzb.MemberName) is { } own ? ItemName.Parse(own) : outer;
        var name = ReleaseName.Clean(given.Name, webDav.CurrentValue.WindowsSafePaths);
        var category = categories.Resolve(addition.Category);
        return new QueueItem
        {
            Id = IdPrefix + Guid.NewGuid().ToString("N"),
            Name = name,
            NzbName = name + ".nzb",
            Category = category,
            Folder = categories.FolderOf(category),
            Priority = addition.Priority,
            Paused = addition.Paused,
            Password = Limit(string.IsNullOrEmpty(addition.Password) ? given.Password ?? outer.Password ?? "" : addition.Password, MaxPassword),
            PostProcessing = addition.PostProcessing,
            Script = Limit(addition.Script, MaxScript),
            NzbHash = nzb.Blob?.Hash ?? "",
            NzbLength = nzb.Blob?.PlainLength ?? 0,
            AddedAt = time.WallTime(),
        };
    }

    private bool IsFull(int items)
    {
        var options = queue.CurrentValue;
        if (options.MaxItems == 0)
            return _full = false;

        // Without a threshold of its own a full queue opens with the first free place.
        var resumeAt = options.ResumeThreshold == 0 ? options.MaxItems - 1 : options.ResumeThreshold;
        return _full = _full ? items > resumeAt : items >= options.MaxItems;
    }

    private static string LastName(string path) => path[(path.LastIndexOf('\\') + 1)..];

    private static string Limit(string text, int length) => text.Length <= length ? text : text[..length];
}
