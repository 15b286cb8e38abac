namespace Sluice.Server.WebDav;

/// <summary>A folder.</summary>
internal interface IStoreCollection : IStoreItem
{
    /// <summary>The file whose bytes GET answers at the collection's own path, or null for none.</summary>
    IStoreFile? Index => null;

    /// <summary>
    /// Reads the direct children, ordered by name ordinally, one at a time. A failure in the middle throws; a listing that ends
    /// is complete.
    /// </summary>
    IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken cancellationToken);

    /// <summary>The sum of the advertised lengths of the files that a quota of this collection would count, in bytes.</summary>
    ValueTask<long> GetUsedBytesAsync(CancellationToken cancellationToken);

    /// <summary>What its quota belongs to: collections with the same one use the same bytes, which one answer asks for once.</summary>
    object QuotaOwner => this;

    /// <summary>Creates or replaces a file. Called only where the table of verbs serves PUT.</summary>
    ValueTask<StoreAnswer> PutItemAsync(string name, StoreUpload upload, CancellationToken cancellationToken);

    /// <summary>Deletes a child. Called only where the table of verbs serves DELETE.</summary>
    ValueTask<StoreAnswer> DeleteItemAsync(string name, CancellationToken cancellationToken);

    /// <summary>Creates a folder at a name that is free. Called only where the table of verbs has MKCOL.</summary>
    ValueTask<StoreAnswer> CreateCollectionAsync(string name, CancellationToken cancellationToken) => ValueTask.FromResult(StoreAnswer.Forbidden);

    /// <summary>Copies a child, with its stored properties. Called only where the table of verbs serves COPY, never into the child itself.</summary>
    ValueTask<StoreAnswer> CopyItemAsync(string name, StoreTransfer transfer, CancellationToken cancellationToken) =>
        ValueTask.FromResult(StoreAnswer.Forbidden);

    /// <summary>Moves a child. Called only where the table of verbs serves MOVE, never into the child itself.</summary>
    ValueTask<StoreAnswer> MoveItemAsync(string name, StoreTransfer transfer, CancellationToken cancellationToken) =>
        ValueTask.FromResult(StoreAnswer.Forbidden);
}

/// <summary>The content of a PUT.</summary>
/// <param name="Body">The bytes; they arrive while they are read, and belong to the request.</param>
/// <param name="Length">The length that the request declares, or null for a chunked body.</param>
/// <param name="MayReplace">False when the request demands that nothing stands at the name (<c>If-None-Match: *</c>).</param>
internal sealed record StoreUpload(Stream Body, long? Length, bool MayReplace);

/// <summary>Where a COPY or MOVE goes.</summary>
/// <param name="Collection">The collection that is to hold the item.</param>
/// <param name="Name">Its name there.</param>
/// <param name="MayReplace">False when nothing may stand at the name (<c>Overwrite: F</c>).</param>
/// <param name="IsDeep">Whether a collection is transferred with its members.</param>
internal sealed record StoreTransfer(IStoreCollection Collection, string Name, bool MayReplace, bool IsDeep);
