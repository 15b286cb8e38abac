using Sluice.Server.Database;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Library;

/// <summary>The stored message-id lists. A missing or damaged list is rebuilt from its NZB.</summary>
internal sealed class ReleaseIdStore(BlobStore blobs, StoredNzbReader nzbs, ILogger<ReleaseIdStore> logger) : IDisposable
{
    // Rebuild one list at a time, because a rebuild reads a whole NZB. A call that waited then finds the finished list.
    private readonly SemaphoreSlim _deriving = new(1, 1);

    /// <summary>Opens the list of an NZB. The caller disposes it.</summary>
    /// <exception cref="StoredNzbLostException">Both the message-id list and the NZB are lost.</exception>
    public async Task<MessageIdList> OpenAsync(string hash, CancellationToken cancellationToken) =>
        await TryOpenAsync(hash, cancellationToken) ?? await DeriveAsync(hash, cancellationToken);

    /// <summary>Rebuilds an unreadable list from its NZB and opens it. The caller disposes it.</summary>
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

    // Unbuffered, because the list itself reads large blocks.
    private FileStream OpenFile(string hash) => new(blobs.OpenIds(hash), FileAccess.Read, bufferSize: 0);
}
