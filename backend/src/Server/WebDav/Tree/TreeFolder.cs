namespace Sluice.Server.WebDav.Tree;

/// <summary>A folder of the tree: what all of them have in common, and what most of them refuse.</summary>
/// <param name="name">Its name.</param>
/// <param name="date">When it changed last.</param>
/// <param name="usedBytes">The sum of all advertised lengths of the library, which a quota is about.</param>
internal abstract class TreeFolder(string name, DateTimeOffset date, Func<CancellationToken, ValueTask<long>> usedBytes) : IStoreCollection
{
    /// <inheritdoc/>
    public string Name => name;

    /// <inheritdoc/>
    public DateTimeOffset Created => date;

    /// <inheritdoc/>
    public DateTimeOffset LastModified => date;

    /// <inheritdoc/>
    public bool IsReadOnly => true;

    /// <inheritdoc/>
    public virtual bool IsHidden => false;

    /// <inheritdoc/>
    public IPropertyManager Properties => LiveProperties.OfCollections;

    /// <inheritdoc/>
    public virtual IStoreFile? Index => null;

    /// <inheritdoc/>
    public abstract IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken cancellationToken);

    /// <inheritdoc/>
    public ValueTask<long> GetUsedBytesAsync(CancellationToken cancellationToken) => usedBytes(cancellationToken);

    /// <inheritdoc/>
    public object QuotaOwner => typeof(TreeFolder);

    /// <inheritdoc/>
    public virtual ValueTask<StoreAnswer> PutItemAsync(string name, StoreUpload upload, CancellationToken cancellationToken) =>
        ValueTask.FromResult(StoreAnswer.Forbidden);

    /// <inheritdoc/>
    public virtual ValueTask<StoreAnswer> DeleteItemAsync(string name, CancellationToken cancellationToken) =>
        ValueTask.FromResult(StoreAnswer.Forbidden);

    /// <inheritdoc/>
    public virtual ValueTask<StoreAnswer> MoveItemAsync(string name, StoreTransfer transfer, CancellationToken cancellationToken) =>
        ValueTask.FromResult(StoreAnswer.Forbidden);
}
