using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.WebDav.Tree;

/// <summary>PUT, DELETE and MOVE below <c>/nzbs</c>.</summary>
internal sealed class QueueChanges(
    QueueNames names,
    NzbIntake intake,
    QueueRemoval removal,
    QueueRenaming renaming,
    WaitingUploads waiting,
    StagedUploads staged,
    LitterFiles litter)
{
    /// <summary>Adds an NZB, or stages a file that the client will later rename to an NZB.</summary>
    public async ValueTask<StoreAnswer> PutAsync(string folder, string name, StoreUpload upload, CancellationToken cancellationToken)
    {
        if (!names.AcceptsFiles(folder))
            return StoreAnswer.Conflict;
        if (!TreeNames.Fits(name))
            return StoreAnswer.Forbidden;
        if (TreeNames.IsLitter(name))
            return await litter.PutAsync(folder, name, upload, cancellationToken);
        if (TreeNames.IsStaged(name))
            return await StageAsync(folder, name, upload, cancellationToken);
        return TreeNames.IsUpload(name) ? await AddAsync(folder, name, upload, isWhole: false, cancellationToken) : StoreAnswer.Forbidden;
    }

    /// <summary>Removes a file's items from the queue as the SABnzbd API does (DAV-43), or removes a staged file.</summary>
    public async ValueTask<StoreAnswer> DeleteAsync(string folder, string name, CancellationToken cancellationToken)
    {
        if (TreeNames.IsLitter(name))
            return litter.Remove(folder, name) ? StoreAnswer.Done : StoreAnswer.NotFound;
        if (TreeNames.IsStaged(name))
            return staged.Find(folder, name) is { } upload && staged.Remove(upload) ? StoreAnswer.Done : StoreAnswer.NotFound;
        var waited = waiting.Remove(folder, name);
        var removed = await StoreGuard.RunAsync(() => removal.RemoveFileAsync(folder, name, cancellationToken));
        return removed || waited ? StoreAnswer.Done : StoreAnswer.NotFound;
    }

    /// <summary>Changes the name or category of a file (DAV-45), or adds a staged upload that is renamed to an NZB (DAV-40b).</summary>
    public async ValueTask<StoreAnswer> MoveAsync(string folder, string name, StoreTransfer transfer, CancellationToken cancellationToken)
    {
        var target = transfer.Collection switch
        {
            QueueFolder other => other.Name,
            QueueRoot => names.ManualFolder,
            _ => null,
        };
        if (target is null || TreeNames.IsLitter(name) || !TreeNames.IsUpload(transfer.Name) || !TreeNames.Fits(transfer.Name))
            return StoreAnswer.Forbidden;
        if (!names.AcceptsFiles(target))
            return StoreAnswer.Conflict;
        if (TreeNames.IsStaged(name))
            return await AddStagedAsync(folder, name, target, transfer, cancellationToken);

        var isTaken = await names.FindAsync(target, transfer.Name, cancellationToken) is not null;
        if (isTaken && !transfer.MayReplace)
            return StoreAnswer.AlreadyExists;
        var outcome = await StoreGuard.RunAsync(
            () => renaming.MoveAsync(folder, name, names.CategoryOf(target), transfer.Name, transfer.MayReplace, cancellationToken));
        if (outcome == RenameOutcome.NotFound)
            return await MoveWaitingAsync(folder, name, target, transfer.Name, isTaken, cancellationToken);
        if (outcome == RenameOutcome.Taken)
            return StoreAnswer.AlreadyExists;

        // Both names now have content, so neither waits for an upload.
        waiting.Remove(folder, name);
        waiting.Remove(target, transfer.Name);
        return isTaken || outcome == RenameOutcome.Replaced ? StoreAnswer.Done : StoreAnswer.Created;
    }

    private async Task<StoreAnswer> StageAsync(string folder, string name, StoreUpload upload, CancellationToken cancellationToken) =>
        await staged.AddAsync(folder, name, upload.Body, upload.Length, upload.MayReplace, cancellationToken) switch
        {
            StagingOutcome.Created => StoreAnswer.Created,
            StagingOutcome.Replaced => StoreAnswer.Done,
            StagingOutcome.Taken => StoreAnswer.AlreadyExists,
            StagingOutcome.TooSlow => StoreAnswer.TooSlow,
            _ => StoreAnswer.NoSpace,
        };

    /// <summary>
    /// Adds an NZB under the usual rules (IMP-1). An empty body only announces an NZB (DAV-40a). If <paramref name="isWhole"/> is true, the client has finished
    /// writing, so the import need not wait for another version.
    /// </summary>
    private async Task<StoreAnswer> AddAsync(string folder, string name, StoreUpload upload, bool isWhole, CancellationToken cancellationToken)
    {
        var existed = await names.FindAsync(folder, name, cancellationToken) is not null;
        if (existed && !upload.MayReplace)
            return StoreAnswer.AlreadyExists;
        await using var body = new UploadStream(upload.Body);
        if ((await body.PeekAsync(1, cancellationToken)).IsEmpty)
            return waiting.TryAdd(folder, name) ? (existed ? StoreAnswer.Done : StoreAnswer.Created) : StoreAnswer.NoSpace;

        var addition = new NzbAddition
        {
            FileName = name,
            Category = folder == names.ManualFolder ? "" : folder,
            IsFile = true,
            MayReplace = upload.MayReplace,
            HoldsStart = !isWhole,
        };
        var outcome = await StoreGuard.RunAsync(() => intake.AddAsync(body, upload.Length, addition, cancellationToken));
        if (outcome.Refusal is { } refusal)
            return AnswerOf(refusal);
        waiting.Remove(folder, name);
        return existed || outcome.Replaced ? StoreAnswer.Done : StoreAnswer.Created;
    }

    /// <summary>Adds a staged file to the queue. The file stays staged until it is accepted, so that a refusal loses nothing.</summary>
    private async Task<StoreAnswer> AddStagedAsync(string folder, string name, string target, StoreTransfer transfer, CancellationToken cancellationToken)
    {
        if (staged.Find(folder, name) is not { } upload || staged.Open(upload, 0) is not { } bytes)
            return StoreAnswer.NotFound;
        await using (bytes)
        {
            var whole = new StoreUpload(bytes, upload.Length, transfer.MayReplace);
            var answer = await AddAsync(target, transfer.Name, whole, isWhole: true, cancellationToken);
            if (answer is StoreAnswer.Created or StoreAnswer.Done)
                staged.Remove(upload);
            return answer;
        }
    }

    private async Task<StoreAnswer> MoveWaitingAsync(
        string folder, string name, string target, string newName, bool isTaken, CancellationToken cancellationToken)
    {
        if (!waiting.Remove(folder, name))
            return StoreAnswer.NotFound;
        await StoreGuard.RunAsync(() => removal.RemoveFileAsync(target, newName, cancellationToken));
        if (!waiting.TryAdd(target, newName))
            return StoreAnswer.NoSpace;
        return isTaken ? StoreAnswer.Done : StoreAnswer.Created;
    }

    private static StoreAnswer AnswerOf(AddRefusal refusal) => refusal switch
    {
        AddRefusal.TooLarge => StoreAnswer.TooLarge,
        AddRefusal.TooSlow => StoreAnswer.TooSlow,
        AddRefusal.NameTaken => StoreAnswer.AlreadyExists,
        _ => StoreAnswer.NoSpace,
    };
}
