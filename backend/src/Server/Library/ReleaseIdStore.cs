using Sluice.Server.Database;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Library;

/// <summary>The stored lists of message-ids. A lost or damaged list is derived again from the stored NZB.</summary>
internal sealed class ReleaseIdStore(BlobStore blobs, StoredNzbReader nzbs, ILogger<ReleaseIdStore> logger) : IDisposable
{
    // Deriving reads a whole NZB: one at a time, and a call that has waited for its turn finds the list of the call before.
    private readonly SemaphoreSlim _deriving = new(1, 1);

    /// <summary>Opens the list of an NZB.</summary>
    /// <returns>The list, which the caller disposes.</returns>
    /// <exception cref="StoredNzbLostException">List and NZB are lost.</exception>
    public async Task<MessageIdList> OpenAsync(string hash, CancellationToken cancellationToken) =>
        await TryOpenAsync(hash, cancellationToken) ?? await DeriveAsync(hash, cancellationToken);

    /// <summary>Derives the list of an NZB anew and opens it, because the stored one cannot be read.</summary>
    /// <returns>The new list, which the caller disposes.</returns>
    /// <exception cref="StoredNzbLostException">The NZB is lost too.</exception>
    public async Task<MessageIdList> DeriveAsync(string hash, CancellationToken cancellationToken)
    {
        await _deriving.WaitAsync(cancellationToken);
        try
        {
            LibraryLog.DerivingIds(logger, hash);
            await blobs.SaveIdsAsync(hash, (file, token) => WriteAsync(hash, file, token), cancellationToken);
            return await MessageIdList.OpenAsync(OpenFile(hash), cancellationToken);
        }
        finally
        {
            _deriving.Release();
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _deriving.Dispose();

    private async Task WriteAsync(string hash, Stream file, CancellationToken cancellationToken)
    {
        var writer = new MessageIdListWriter(file);
        await foreach (var posted in nzbs.ReadAsync(hash, new NzbHead(), cancellationToken))
            await writer.AddAsync(posted, cancellationToken);
        await writer.CompleteAsync(cancellationToken);
    }

    private async Task<MessageIdList?> TryOpenAsync(string hash, CancellationToken cancellationToken)
    {
        try
        {
            return await MessageIdList.OpenAsync(OpenFile(hash), cancellationToken);
        }
        catch (Exception e) when (e is FileNotFoundException or MessageIdListException)
        {
            return null;
        }
    }

    // Unbuffered: the list reads whole stretches.
    private FileStream OpenFile(string hash) => new(blobs.OpenIds(hash), FileAccess.Read, bufferSize: 0);
}
