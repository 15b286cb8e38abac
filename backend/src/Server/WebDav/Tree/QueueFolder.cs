namespace Sluice.Server.WebDav.Tree;

/// <summary>A category folder of <c>/nzbs</c>.</summary>
internal sealed class QueueFolder(string name, QueueBranch branch, DateTimeOffset since, Func<CancellationToken, ValueTask<long>> usedBytes)
    : TreeFolder(name, since, usedBytes)
{
    /// <inheritdoc />
    public override IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken ct) => branch.ListItemsAsync(Name, ct);

    /// <inheritdoc />
    public override ValueTask<StoreAnswer> PutItemAsync(string name, StoreUpload upload, CancellationToken ct) =>
        branch.PutAsync(Name, name, upload, ct);

    /// <inheritdoc />
    public override ValueTask<StoreAnswer> DeleteItemAsync(string name, CancellationToken ct) =>
        branch.DeleteAsync(Name, name, ct);

    /// <inheritdoc />
    public override ValueTask<StoreAnswer> MoveItemAsync(string name, StoreTransfer transfer, CancellationToken ct) =>
        branch.MoveAsync(Name, name, transfer, ct);
}
