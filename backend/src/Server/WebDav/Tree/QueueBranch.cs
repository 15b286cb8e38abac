using Sluice.Server.Library;
using Sluice.Server.Queue;

namespace Sluice.Server.WebDav.Tree;

/// <summary><c>/nzbs</c>: the queue as files.</summary>
internal sealed class QueueBranch
{
    private const string Extension = ".nzb";

    private readonly QueueStore _queue;
    private readonly NzbIntake _intake;
    private readonly QueueRemoval _removal;
    private readonly QueueRenaming _renaming;
    private readonly CategoryRules _categories;
    private readonly StoredNzbReader _nzbs;
    private readonly QueueProperties _properties;
    private readonly WaitingUploads _waiting;
    private readonly LitterFiles _litter;
    private readonly ContentBranch _content;
    private readonly DateTimeOffset _since;

    public QueueBranch(
        QueueStore queue,
        NzbIntake intake,
        QueueRemoval removal,
        QueueRenaming renaming,
        CategoryRules categories,
        StoredNzbReader nzbs,
        QueueProperties properties,
        WaitingUploads waiting,
        LitterFiles litter,
        ContentBranch content,
        TimeProvider time)
    {
        _queue = queue;
        _intake = intake;
        _removal = removal;
        _renaming = renaming;
        _categories = categories;
        _nzbs = nzbs;
        _properties = properties;
        _waiting = waiting;
        _litter = litter;
        _content = content;
        _since = time.GetUtcNow();
        Root = new QueueRoot(this, _since, content.GetUsedBytesAsync);
    }

    /// <summary><c>/nzbs</c> itself.</summary>
    public QueueRoot Root { get; }

    /// <summary>The folder of NZBs that are added without a category.</summary>
    public string ManualFolder => _categories.FolderOf(CategoryRules.None);

    /// <summary>What stands at a path below <c>/nzbs</c>, or null. An NZB directly in it stands in <see cref="ManualFolder"/>.</summary>
    public async ValueTask<IStoreItem?> FindAsync(IReadOnlyList<string> names, CancellationToken ct) => names switch
    {
        [] => Root,
        [var name] => await FindFolderAsync(name, ct) ?? await FindFileAsync(ManualFolder, name, ct),
        [var folder, var name] => await FindFileAsync(folder, name, ct),
        _ => null,
    };

    /// <summary>What a desktop has left at a path below <c>/nzbs</c>, or null. Costs no query (DAV-14).</summary>
    public IStoreItem? FindLitter(IReadOnlyList<string> names) => names switch
    {
        [var name] => _litter.Find(ManualFolder, name),
        [var folder, var name] => _litter.Find(folder, name),
        _ => null,
    };

    /// <summary>Whether the database answers. Asked for what needs no row of it, so that it is not shown without the rest (DAV-6).</summary>
    public Task RequireAsync(CancellationToken ct) => ListFolderNamesAsync(ct);

    /// <summary>The category folders, configured or in use, by name.</summary>
    public async IAsyncEnumerable<IStoreItem> ListFoldersAsync(
        [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken ct)
    {
        IReadOnlyList<string> used = await ListFolderNamesAsync(ct);
        foreach (string name in used.Union(_categories.Configured).Union(_waiting.Folders()).Order(StringComparer.Ordinal))
            yield return Show(name);
    }

    /// <summary>The items of a folder by name, those that wait for their bytes among them.</summary>
    public async IAsyncEnumerable<IStoreItem> ListItemsAsync(
        string folder, [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken ct)
    {
        Queue<WaitingFile> waiting = new(_waiting.In(folder));
        await foreach (QueueItem item in StoreGuard.ReadAsync(_queue.ListFolderAsync(folder, ct), ct))
        {
            while (waiting.TryPeek(out WaitingFile? next) && string.CompareOrdinal(next.Name, item.FileName) < 0)
                yield return waiting.Dequeue();
            if (waiting.TryPeek(out WaitingFile? same) && same.Name == item.FileName)
                waiting.Dequeue();
            yield return new QueueFile(item, _nzbs, _properties);
        }

        while (waiting.TryDequeue(out WaitingFile? rest))
            yield return rest;
    }

    /// <summary>Adds an NZB, by the rules of every other entrance (IMP-1). A body of 0 bytes announces one (DAV-40a).</summary>
    public async ValueTask<StoreAnswer> PutAsync(string folder, string name, StoreUpload upload, CancellationToken ct)
    {
        bool isManual = folder == ManualFolder;
        if (!isManual && !_categories.Configured.Contains(folder))
            return StoreAnswer.Conflict;
        if (TreeNames.IsLitter(name))
            return await _litter.PutAsync(folder, name, upload, ct);
        if (!TreeNames.IsUpload(name))
            return StoreAnswer.Forbidden;

        bool existed = await FindFileAsync(folder, name, ct) is not null;
        if (existed && !upload.MayReplace)
            return StoreAnswer.AlreadyExists;
        await using PeekedStream? body = await PeekedStream.OpenAsync(upload.Body, ct);
        if (body is null)
            return _waiting.TryAdd(folder, name) ? (existed ? StoreAnswer.Done : StoreAnswer.Created) : StoreAnswer.NoSpace;

        var addition = new NzbAddition { FileName = name, Category = isManual ? "" : folder, Replace = upload.MayReplace, HoldsStart = true };
        AddOutcome outcome = await StoreGuard.RunAsync(() => _intake.AddAsync(body, upload.Length, addition, ct));
        if (outcome.Refusal is { } refusal)
            return Answer(refusal);
        _waiting.Remove(folder, name);
        return existed || outcome.Replaced ? StoreAnswer.Done : StoreAnswer.Created;
    }

    /// <summary>Takes an item out of the queue, as the SABnzbd API does (DAV-43).</summary>
    public async ValueTask<StoreAnswer> DeleteAsync(string folder, string name, CancellationToken ct)
    {
        if (TreeNames.IsLitter(name))
            return _litter.Remove(folder, name) ? StoreAnswer.Done : StoreAnswer.NotFound;
        bool waited = _waiting.Remove(folder, name);
        QueueItem? item = await FindItemAsync(folder, name, ct);
        bool removed = item is not null && (await StoreGuard.RunAsync(() => _removal.RemoveAsync([item.Id], ct))).Count > 0;
        return removed || waited ? StoreAnswer.Done : StoreAnswer.NotFound;
    }

    /// <summary>Gives an item another name, or another category (DAV-45).</summary>
    public async ValueTask<StoreAnswer> MoveAsync(string folder, string name, StoreTransfer transfer, CancellationToken ct)
    {
        string? target = transfer.Collection switch
        {
            QueueFolder other => other.Name,
            QueueRoot => ManualFolder,
            _ => null,
        };
        if (target is null || TreeNames.IsLitter(name) || !TreeNames.IsUpload(transfer.Name) || !transfer.Name.EndsWith(Extension, StringComparison.Ordinal))
            return StoreAnswer.Forbidden;
        bool isManual = target == ManualFolder;
        if (!isManual && !_categories.Configured.Contains(target))
            return StoreAnswer.Conflict;

        bool isTaken = await FindFileAsync(target, transfer.Name, ct) is not null;
        if (isTaken && !transfer.MayReplace)
            return StoreAnswer.AlreadyExists;
        StoreAnswer answer = await FindItemAsync(folder, name, ct) is { } item
            ? await RenameAsync(item, isManual ? CategoryRules.None : target, transfer, ct)
            : await MoveWaitingAsync(folder, name, target, transfer.Name, ct);
        return answer == StoreAnswer.Done && !isTaken ? StoreAnswer.Created : answer;
    }

    private async Task<StoreAnswer> RenameAsync(QueueItem item, string category, StoreTransfer transfer, CancellationToken ct)
    {
        string name = transfer.Name[..^Extension.Length];
        RenameOutcome outcome = await StoreGuard.RunAsync(() => _renaming.RenameAsync(item.Id, name, category, transfer.MayReplace, ct));
        if (outcome is RenameOutcome.Done or RenameOutcome.Replaced)
            _waiting.Remove(_categories.FolderOf(category), transfer.Name);
        return outcome switch
        {
            RenameOutcome.Done or RenameOutcome.Replaced => StoreAnswer.Done,
            RenameOutcome.Taken => StoreAnswer.AlreadyExists,
            RenameOutcome.BadName => StoreAnswer.Forbidden,
            _ => StoreAnswer.NotFound,
        };
    }

    private async Task<StoreAnswer> MoveWaitingAsync(string folder, string name, string target, string newName, CancellationToken ct)
    {
        if (_waiting.Find(folder, name) is null)
            return StoreAnswer.NotFound;
        if (await FindItemAsync(target, newName, ct) is { } replaced)
            await StoreGuard.RunAsync(() => _removal.RemoveAsync([replaced.Id], ct));
        _waiting.Remove(folder, name);
        return _waiting.TryAdd(target, newName) ? StoreAnswer.Done : StoreAnswer.NoSpace;
    }

    private static StoreAnswer Answer(AddRefusal refusal) =>
        refusal == AddRefusal.TooLarge ? StoreAnswer.TooLarge : StoreAnswer.NoSpace;

    private async ValueTask<IStoreItem?> FindFolderAsync(string name, CancellationToken ct)
    {
        IReadOnlyList<string> used = await ListFolderNamesAsync(ct);
        bool exists = name == ManualFolder || used.Contains(name) || _categories.Configured.Contains(name) || _waiting.Folders().Contains(name);
        return exists ? Show(name) : null;
    }

    private async Task<IStoreItem?> FindFileAsync(string folder, string name, CancellationToken ct)
    {
        if (await FindItemAsync(folder, name, ct) is { } item)
            return new QueueFile(item, _nzbs, _properties);
        return _waiting.Find(folder, name);
    }

    private async Task<QueueItem?> FindItemAsync(string folder, string name, CancellationToken ct) =>
        name.EndsWith(Extension, StringComparison.Ordinal)
            ? await StoreGuard.RunAsync(() => _queue.FindByNameAsync(folder, name[..^Extension.Length], ct))
            : null;

    private Task<IReadOnlyList<string>> ListFolderNamesAsync(CancellationToken ct) =>
        StoreGuard.RunAsync(() => _queue.ListFoldersAsync(ct));

    private QueueFolder Show(string name) => new(name, this, _since, _content.GetUsedBytesAsync);
}
