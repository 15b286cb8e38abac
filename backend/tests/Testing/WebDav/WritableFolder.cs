using System.Runtime.CompilerServices;
using Sluice.Server.WebDav;

namespace Sluice.Testing.WebDav;

/// <summary>A folder of <see cref="WritableStore"/>, as seen by one request.</summary>
internal sealed class WritableFolder(WritableStore store, string key, WritableNode node) : IStoreCollection
{
    /// <summary>Path of the folder; empty for the root.</summary>
    public string Key => key;

    /// <inheritdoc/>
    public string Name => key.Length == 0 ? "Test" : key[(key.LastIndexOf('/') + 1)..];

    /// <inheritdoc/>
    public DateTimeOffset Created => node.Modified;

    /// <inheritdoc/>
    public DateTimeOffset LastModified => node.Modified;

    /// <inheritdoc/>
    public bool IsReadOnly => false;

    /// <inheritdoc/>
    public IPropertyManager Properties => new StoredProperties(
        LiveProperties.OfCollections, node.Stored, (changes, _) => ValueTask.FromResult(store.ChangeProperties(key, changes)));

    /// <inheritdoc/>
    public async IAsyncEnumerable<IStoreItem> ReadChildrenAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        foreach (var child in store.List(key))
        {
            await Task.Yield();
            cancellationToken.ThrowIfCancellationRequested();
            yield return child;
        }
    }

    /// <inheritdoc/>
    public ValueTask<long> GetUsedBytesAsync(CancellationToken cancellationToken) =>
        ValueTask.FromResult(store.Nodes.Values.Sum(other => other.Content?.LongLength ?? 0));

    /// <inheritdoc/>
    public async ValueTask<StoreAnswer> PutItemAsync(string name, StoreUpload upload, CancellationToken cancellationToken)
    {
        using var body = new MemoryStream();
        await upload.Body.CopyToAsync(body, cancellationToken);
        return store.Put($"{key}/{name}", body.ToArray(), upload.MayReplace);
    }

    /// <inheritdoc/>
    public ValueTask<StoreAnswer> DeleteItemAsync(string name, CancellationToken cancellationToken) =>
        ValueTask.FromResult(store.Delete($"{key}/{name}"));

    /// <inheritdoc/>
    public ValueTask<StoreAnswer> CreateCollectionAsync(string name, CancellationToken cancellationToken) =>
        ValueTask.FromResult(store.Put($"{key}/{name}", null, mayReplace: false));

    /// <inheritdoc/>
    public ValueTask<StoreAnswer> CopyItemAsync(string name, StoreTransfer transfer, CancellationToken cancellationToken) =>
        ValueTask.FromResult(store.Transfer($"{key}/{name}", transfer, isMove: false));

    /// <inheritdoc/>
    public ValueTask<StoreAnswer> MoveItemAsync(string name, StoreTransfer transfer, CancellationToken cancellationToken) =>
        ValueTask.FromResult(store.Transfer($"{key}/{name}", transfer, isMove: true));
}
