namespace Sluice.Server.WebDav.Tree;

/// <summary>Base of all folders; by default, refuses changes. All folders share a quota: <paramref name="usedBytes"/> is the total library size.</summary>
internal abstract class TreeFolder(string name, DateTimeOffset date, Func<CancellationToken, ValueTask<long>> usedBytes) : IStoreCollection
{
    public string Name => name;

    public DateTimeOffset Created => date;

    public DateTimeOffset LastModified => date;

    public bool IsReadOnly => true;

    public virtual bool IsHidden => false;

    public IPropertyManager Properties => LiveProperties.OfCollections;

    public virtual IStoreFile? Index => null;

    public abstract IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken cancellationToken);

    public ValueTask<long> GetUsedBytesAsync(CancellationToken cancellationToken) => usedBytes(cancellationToken);

    public object QuotaOwner => typeof(TreeFolder);

    public virtual ValueTask<StoreAnswer> PutItemAsync(string name, StoreUpload upload, CancellationToken cancellationToken) =>
        ValueTask.FromResult(StoreAnswer.Forbidden);

    public virtual ValueTask<StoreAnswer> DeleteItemAsync(string name, CancellationToken cancellationToken) =>
        ValueTask.FromResult(StoreAnswer.Forbidden);

    public virtual ValueTask<StoreAnswer> MoveItemAsync(string name, StoreTransfer transfer, CancellationToken cancellationToken) =>
        ValueTask.FromResult(StoreAnswer.Forbidden);
}
