namespace Sluice.Server.WebDav.Tree;

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
