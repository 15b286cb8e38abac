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
    IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken ct);

    /// <summary>The sum of the advertised lengths of the files that a quota of this collection would count, in bytes.</summary>
    ValueTask<long> GetUsedBytesAsync(CancellationToken ct);

    /// <summary>Creates or replaces a file. Called only where the table of verbs serves PUT.</summary>
    ValueTask<StoreAnswer> PutItemAsync(string name, StoreUpload upload, CancellationToken ct);

    /// <summary>Deletes a child. Called only where the table of verbs serves DELETE.</summary>
    ValueTask<StoreAnswer> DeleteItemAsync(string name, CancellationToken ct);
}
