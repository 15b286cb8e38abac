using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using Sluice.Server.Database;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Library;

/// <summary>Reads a stored NZB and verifies its hash.</summary>
internal sealed class StoredNzbReader(BlobStore blobs)
{
    private const int DrainBuffer = 64 << 10;

    /// <summary>Streams an NZB's files in document order. Verifies the blob before reporting an NZB error, because a damaged blob may have caused it.</summary>
    /// <param name="head">Filled with the NZB's metadata.</param>
    /// <exception cref="StoredNzbLostException">The blob is missing or damaged. Damage may surface only at the end of the enumeration.</exception>
    /// <exception cref="NzbFormatException">The blob is intact, but the NZB is unusable.</exception>
    /// <exception cref="StorageException">A file has too many segments for memory, and the disk has no space for them.</exception>
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

    /// <summary>Opens the uncompressed text of an NZB without verifying it. The caller disposes the stream.</summary>
    /// <exception cref="StoredNzbLostException">The blob is missing.</exception>
    /// <exception cref="InvalidDataException">Thrown by reads if the blob is damaged.</exception>
    public Stream Open(string hash) => Open(
        hash, () => blobs.ContainsNzb(hash) ? blobs.OpenNzb(hash) : throw new StoredNzbLostException(hash) { IsMissing = true });

    /// <summary>Opens a packed upload as received, at an offset and without verifying it. The caller disposes the stream.</summary>
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
            // Check the hash first, because a damaged blob may look like a malformed NZB.
            await ProveAsync(hash, hashed, sha, cancellationToken);
            throw;
        }
        catch (InvalidDataException e)
        {
            throw new StoredNzbLostException(hash, e);
        }
    }

    /// <summary>Reads the rest of the blob and verifies its hash, which covers the whole blob.</summary>
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

internal sealed class StoredNzbLostException(string hash, Exception? inner = null) : IOException($"The stored NZB {hash} is lost or damaged.", inner)
{
    /// <summary>Whether the blob is missing, for example because its folder is not mounted; otherwise it is damaged.</summary>
    public bool IsMissing { get; init; }
}
