using Sluice.Server.Database;

namespace Sluice.Server.Tests.Database;

/// <summary>Saves NZBs without an upload.</summary>
internal static class StoredBlobs
{
    public static Task<StoredBlob> SaveNzbAsync(this BlobStore store, Stream plain, CancellationToken cancellationToken) =>
        store.SaveNzbAsync(plain, read: null, (_, _) => Task.CompletedTask, cancellationToken);
}
