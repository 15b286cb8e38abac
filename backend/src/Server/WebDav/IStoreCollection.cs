namespace Sluice.Server.WebDav;

internal interface IStoreCollection : IStoreItem
{
    /// <summary>The file returned by a GET of the collection, or null.</summary>
    IStoreFile? Index => null;

    /// <summary>Streams the children in ordinal name order. Throws if reading fails partway, so a listing that ends is complete.</summary>
    IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken cancellationToken);

    /// <summary>Returns the used bytes of the quota: the total of the advertised file lengths.</summary>
    ValueTask<long> GetUsedBytesAsync(CancellationToken cancellationToken);

    /// <summary>The owner of the quota. Collections with equal owners share one value, which a response reads only once.</summary>
    object QuotaOwner => this;

    /// <summary>Creates or replaces a file. Called only if the verb table serves PUT.</summary>
    ValueTask<StoreAnswer> PutItemAsync(string name, StoreUpload upload, CancellationToken cancellationToken);

    /// <summary>Deletes a child. Called only if the verb table serves DELETE.</summary>
    ValueTask<StoreAnswer> DeleteItemAsync(string name, CancellationToken cancellationToken);

    /// <summary>Creates a folder at an unused name. Called only if the verb table serves MKCOL.</summary>
    ValueTask<StoreAnswer> CreateCollectionAsync(string name, CancellationToken cancellationToken) => ValueTask.FromResult(StoreAnswer.Forbidden);

    /// <summary>Copies a child with its stored properties. Called only if the verb table serves COPY, and never to copy a child into itself.</summary>
    ValueTask<StoreAnswer> CopyItemAsync(string name, StoreTransfer transfer, CancellationToken cancellationToken) =>
        ValueTask.FromResult(StoreAnswer.Forbidden);

    /// <summary>Moves a child. Called only if the verb table serves MOVE, and never to move a child into itself.</summary>
    ValueTask<StoreAnswer> MoveItemAsync(string name, StoreTransfer transfer, CancellationToken cancellationToken) =>
        ValueTask.FromResult(StoreAnswer.Forbidden);
}

/// <summary>The content of a PUT.</summary>
/// <param name="Body">The request body, which is still arriving. The request owns the body.</param>
/// <param name="Length">The declared length; null for a chunked body.</param>
/// <param name="MayReplace">False if the request forbids replacement (<c>If-None-Match: *</c>).</param>
internal sealed record StoreUpload(Stream Body, long? Length, bool MayReplace);

/// <summary>The destination of a COPY or MOVE.</summary>
/// <param name="MayReplace">False if the request forbids replacement (<c>Overwrite: F</c>).</param>
/// <param name="IsDeep">Whether a collection is transferred together with its members.</param>
internal sealed record StoreTransfer(IStoreCollection Collection, string Name, bool MayReplace, bool IsDeep);
