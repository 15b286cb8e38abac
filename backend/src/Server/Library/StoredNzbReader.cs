using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using Sluice.Server.Database;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Library;

/// <summary>Reads a stored NZB and proves by its hash that it is the NZB that was added.</summary>
internal sealed class StoredNzbReader(BlobStore blobs)
{
    private const int DrainBuffer = 64 << 10;

    /// <summary>The files of an NZB in document order. A fault of the blob is reported before a fault of the NZB, which may follow from it.</summary>
    /// <param name="hash">Content id of the NZB.</param>
    /// <param name="head">Receives the metadata of the NZB.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="StoredNzbLostException">The blob is missing or damaged. Comes at the end of the enumeration, if not before.</exception>
    /// <exception cref="NzbFormatException">The NZB, stored as it was added, cannot be used.</exception>
    /// <exception cref="StorageException">There is no room for the segments of a file that are too many for the memory.</exception>
    public async IAsyncEnumerable<NzbFile> ReadAsync(string hash, NzbHead head, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await using var stored = Open(hash);
        using var sha = SHA256.Create();
        await using var hashed = new CryptoStream(stored, sha, CryptoStreamMode.Read, leaveOpen: true);
        var files = NzbReader.ReadAsync(hashed, limits: null, head, blobs.CreateTemporary, cancellationToken).GetAsyncEnumerator(cancellationToken);
        await using (files)
        {
            while (await MoveNextAsync(files, hash, hashed, sha, cancellationToken))
                yield return files.Current;
        }

        await ProveAsync(hash, hashed, sha, cancellationToken);
    }

    /// <summary>The plain text of an NZB, unproved; the caller disposes the stream.</summary>
    /// <exception cref="StoredNzbLostException">The blob is missing.</exception>
    /// <exception cref="InvalidDataException">Thrown by reading: the blob is damaged.</exception>
    public Stream Open(string hash) => Open(
        hash, () => blobs.ContainsNzb(hash) ? blobs.OpenNzb(hash) : throw new StoredNzbLostException(hash) { IsMissing = true });

    /// <summary>A packed upload as it came, unproved, from one of its bytes on; the caller disposes the stream.</summary>
    /// <exception cref="StoredNzbLostException">The blob is missing.</exception>
    public Stream OpenRaw(string hash, long offset) => Open(hash, () =>
    {
        var raw = blobs.OpenRaw(hash);
        raw.Position = offset;
        return raw;
    });

    private static Stream Open(string hash, Func<Stream> open)
    {
        try
        {
            return open();
        }
        catch (FileNotFoundException e)
        {
            throw new StoredNzbLostException(hash, e) { IsMissing = true };
        }
    }

    private static async ValueTask<bool> MoveNextAsync(
        IAsyncEnumerator<NzbFile> files,
        string hash,
        CryptoStream hashed,
        SHA256 sha,
        CancellationToken cancellationToken)
    {
        try
        {
            return await files.MoveNextAsync();
        }
        catch (NzbFormatException)
        {
            // A damaged blob may look like a malformed NZB.
            await ProveAsync(hash, hashed, sha, cancellationToken);
            throw;
        }
        catch (InvalidDataException e)
        {
            throw new StoredNzbLostException(hash, e);
        }
    }

    /// <summary>Reads the rest behind the end of the document, because the hash is over the whole blob.</summary>
    private static async Task ProveAsync(string hash, CryptoStream hashed, SHA256 sha, CancellationToken cancellationToken)
    {
        try
        {
            var rest = new byte[DrainBuffer];
            while (await hashed.ReadAsync(rest, cancellationToken) > 0)
            {
            }
        }
        catch (InvalidDataException e)
        {
            throw new StoredNzbLostException(hash, e);
        }

        if (Convert.ToHexStringLower(sha.Hash!) != hash)
            throw new StoredNzbLostException(hash);
    }
}

/// <summary>A stored NZB is missing, or its bytes are not those that were stored.</summary>
internal sealed class StoredNzbLostException(string hash, Exception? inner = null) : IOException($"The stored NZB {hash} is lost or damaged.", inner)
{
    /// <summary>Whether the file is missing, as when its folder is not mounted; otherwise its bytes are damaged.</summary>
    public bool IsMissing { get; init; }
}
