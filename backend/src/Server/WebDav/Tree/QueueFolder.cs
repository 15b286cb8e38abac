namespace Sluice.Server.WebDav.Tree;

/// <summary><c>/nzbs</c>. An NZB uploaded directly here goes to the folder for NZBs without a category.</summary>
internal sealed class QueueRoot(
    QueueBranch branch, QueueChanges changes, QueueNames names, DateTimeOffset since, Func<CancellationToken, ValueTask<long>> usedBytes)
    : TreeFolder(TreeNames.Queue, since, usedBytes)
{
    public override IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken cancellationToken) => branch.ListFoldersAsync(cancellationToken);

    public override ValueTask<StoreAnswer> PutItemAsync(string name, StoreUpload upload, CancellationToken cancellationToken) =>
        changes.PutAsync(names.ManualFolder, name, upload, cancellationToken);

    public override ValueTask<StoreAnswer> DeleteItemAsync(string name, CancellationToken cancellationToken) =>
        changes.DeleteAsync(names.ManualFolder, name, cancellationToken);

    public override ValueTask<StoreAnswer> MoveItemAsync(string name, StoreTransfer transfer, CancellationToken cancellationToken) =>
        changes.MoveAsync(names.ManualFolder, name, transfer, cancellationToken);
}

internal sealed class QueueFolder(
    string name, QueueNames names, QueueChanges changes, DateTimeOffset since, Func<CancellationToken, ValueTask<long>> usedBytes)
    : TreeFolder(name, since, usedBytes)
{
    public override IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken cancellationToken) => names.ListAsync(Name, cancellationToken);

    public override ValueTask<StoreAnswer> PutItemAsync(string name, StoreUpload upload, CancellationToken cancellationToken) =>
        changes.PutAsync(Name, name, upload, cancellationToken);

    public override ValueTask<StoreAnswer> DeleteItemAsync(string name, CancellationToken cancellationToken) =>
        changes.DeleteAsync(Name, name, cancellationToken);

    public override ValueTask<StoreAnswer> MoveItemAsync(string name, StoreTransfer transfer, CancellationToken cancellationToken) =>
        changes.MoveAsync(Name, name, transfer, cancellationToken);
}
