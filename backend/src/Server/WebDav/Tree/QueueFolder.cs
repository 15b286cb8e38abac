namespace Sluice.Server.WebDav.Tree;

/// <summary><c>/nzbs</c>. An NZB that is put directly into it goes to the folder of those without a category.</summary>
internal sealed class QueueRoot(
    QueueBranch branch, QueueChanges changes, QueueNames names, DateTimeOffset since, Func<CancellationToken, ValueTask<long>> usedBytes)
    : TreeFolder(TreeNames.Queue, since, usedBytes)
{
    /// <inheritdoc />
    public override IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken ct) => branch.ListFoldersAsync(ct);

    /// <inheritdoc />
    public override ValueTask<StoreAnswer> PutItemAsync(string name, StoreUpload upload, CancellationToken ct) =>
        changes.PutAsync(names.ManualFolder, name, upload, ct);

    /// <inheritdoc />
    public override ValueTask<StoreAnswer> DeleteItemAsync(string name, CancellationToken ct) =>
        changes.DeleteAsync(names.ManualFolder, name, ct);

    /// <inheritdoc />
    public override ValueTask<StoreAnswer> MoveItemAsync(string name, StoreTransfer transfer, CancellationToken ct) =>
        changes.MoveAsync(names.ManualFolder, name, transfer, ct);
}

/// <summary>A category folder of <c>/nzbs</c>.</summary>
internal sealed class QueueFolder(
    string name, QueueNames names, QueueChanges changes, DateTimeOffset since, Func<CancellationToken, ValueTask<long>> usedBytes)
    : TreeFolder(name, since, usedBytes)
{
    /// <inheritdoc />
    public override IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken ct) => names.ListAsync(Name, ct);

    /// <inheritdoc />
    public override ValueTask<StoreAnswer> PutItemAsync(string name, StoreUpload upload, CancellationToken ct) =>
        changes.PutAsync(Name, name, upload, ct);

    /// <inheritdoc />
    public override ValueTask<StoreAnswer> DeleteItemAsync(string name, CancellationToken ct) =>
        changes.DeleteAsync(Name, name, ct);

    /// <inheritdoc />
    public override ValueTask<StoreAnswer> MoveItemAsync(string name, StoreTransfer transfer, CancellationToken ct) =>
        changes.MoveAsync(Name, name, transfer, ct);
}
