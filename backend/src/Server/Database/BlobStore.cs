using System.Buffers;
using System.IO.Compression;
using System.Security.Cryptography;
using Microsoft.Win32.SafeHandles;

namespace Sluice.Server.Database;

/// <summary>
/// Keeps NZBs (<c>&lt;hash&gt;.nzb.br</c>) and their message-id lists (<c>&lt;hash&gt;.ids</c>) as files. A row may
/// refer to one only after it has been saved.
/// </summary>
/// <remarks>Thread-safe. Two saves of the same NZB give the same file.</remarks>
internal sealed class BlobStore(DataFolder folder, IBlobFiles files, TimeProvider time)
{
    /// <summary>Longest NZB in bytes of plain text (reliability.md section 3).</summary>
    public const long MaxNzbBytes = 256L << 20;

    private const string NzbSuffix = ".nzb.br";
    private const string IdsSuffix = ".ids";
    private const long SpareBytes = 64L << 20;
    private const int CopyBuffer = 128 << 10;

    // A blob is written before the row that refers to it, so a young one without a row may be about to get one.
    private static readonly TimeSpan OrphanAge = TimeSpan.FromHours(1);

    // A blob is saved over one of its name as well: the content is the same, and the young date keeps a sweep away from it.
    private readonly DurableFolder _saved = new(folder.Blobs, files);

    /// <summary>Refuses early, before bytes of a request are written.</summary>
    /// <param name="size">Expected size of what will be saved, in bytes; 0 when unknown.</param>
    /// <exception cref="DiskFullException">Less than 3 × size + 64 MiB are free (IMP-4).</exception>
    public void RequireSpace(long size)
    {
        if (files.FreeBytes(folder.Blobs) < checked(3 * size) + SpareBytes)
            throw new DiskFullException();
    }

    /// <summary>Reads an NZB to its end and keeps it, compressed. When the task completes it is on disk under its name.</summary>
    /// <param name="plain">The NZB as text; is read once, forward, and left open.</param>
    /// <param name="cancellationToken">Gives up and removes what was written.</param>
    /// <exception cref="BlobTooLargeException">It is longer than <see cref="MaxNzbBytes"/>.</exception>
    /// <exception cref="DiskFullException">There is no room.</exception>
    public async Task<StoredBlob> SaveNzbAsync(Stream plain, CancellationToken cancellationToken)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        long plainLength = 0;
        var name = "";
        var storedLength = await _saved.SaveAsync(
            async file =>
            {
                plainLength = await CompressAsync(plain, file, hash, cancellationToken);
                name = Convert.ToHexStringLower(hash.GetHashAndReset());
                return name + NzbSuffix;
            },
            cancellationToken);
        return new StoredBlob(name, plainLength, storedLength);
    }

    /// <summary>Keeps the message-id list of an NZB, as durably as the NZB itself.</summary>
    /// <param name="hash">Hash of the NZB.</param>
    /// <param name="write">Writes the list; the stream is the caller's until the task completes.</param>
    /// <param name="cancellationToken">Gives up and removes what was written.</param>
    /// <returns>Bytes on disk.</returns>
    /// <exception cref="DiskFullException">There is no room.</exception>
    public Task<long> SaveIdsAsync(string hash, Func<Stream, CancellationToken, Task> write, CancellationToken cancellationToken)
    {
        var name = CheckHash(hash) + IdsSuffix;
        return _saved.SaveAsync(
            async file =>
            {
                await write(file, cancellationToken);
                return name;
            },
            cancellationToken);
    }

    /// <summary>Whether an NZB is stored; whether its blob is whole shows when it is read.</summary>
    public bool ContainsNzb(string hash) => File.Exists(_saved.PathOf(CheckHash(hash) + NzbSuffix));

    /// <summary>The plain text of a stored NZB; the caller disposes the stream.</summary>
    /// <exception cref="FileNotFoundException">The blob is lost.</exception>
    /// <exception cref="InvalidDataException">Thrown by reading: the blob is damaged.</exception>
    public Stream OpenNzb(string hash) =>
        new BrotliStream(files.OpenRead(_saved.PathOf(CheckHash(hash) + NzbSuffix)), CompressionMode.Decompress);

    /// <summary>A stored message-id list for reading at any place; the caller disposes the handle.</summary>
    /// <exception cref="FileNotFoundException">The list is lost; it can be derived again from the NZB.</exception>
    public SafeFileHandle OpenIds(string hash) =>
        File.OpenHandle(_saved.PathOf(CheckHash(hash) + IdsSuffix), FileMode.Open, FileAccess.Read, FileShare.Read | FileShare.Delete);

    /// <summary>Removes an NZB and its message-id list, once no row refers to them.</summary>
    public void Delete(string hash)
    {
        files.Delete(_saved.PathOf(CheckHash(hash) + NzbSuffix));
        files.Delete(_saved.PathOf(hash + IdsSuffix));
    }

    /// <summary>
    /// Removes what a crash left behind: temporary files, and blobs older than an hour that nobody refers to (IMP-3).
    /// Runs at start, before anything can be added.
    /// </summary>
    /// <param name="referenced">Hashes that rows refer to.</param>
    /// <returns>How many files were removed.</returns>
    public int Sweep(IReadOnlySet<string> referenced)
    {
        var removed = 0;
        var oldest = time.GetUtcNow() - OrphanAge;
        foreach (var (path, changed) in files.List(folder.Blobs))
        {
            if (changed >= oldest || !IsOrphan(Path.GetFileName(path), referenced))
                continue;

            files.Delete(path);
            removed++;
        }

        return removed;
    }

    private static bool IsOrphan(string name, IReadOnlySet<string> referenced)
    {
        if (name.EndsWith(DurableFolder.TemporarySuffix, StringComparison.Ordinal))
            return true;

        // Anything else that lies here was not put here by Sluice and is left alone.
        var dot = name.IndexOf('.', StringComparison.Ordinal);
        return dot == 64 && name[dot..] is NzbSuffix or IdsSuffix && !referenced.Contains(name[..dot]);
    }

    private static async Task<long> CompressAsync(Stream plain, Stream file, IncrementalHash hash, CancellationToken cancellationToken)
    {
        long length = 0;
        var buffer = ArrayPool<byte>.Shared.Rent(CopyBuffer);
        try
        {
            await using var brotli = new BrotliStream(file, CompressionLevel.Fastest, leaveOpen: true);
            int read;
            while ((read = await plain.ReadAsync(buffer, cancellationToken)) > 0)
            {
                length += read;
                if (length > MaxNzbBytes)
                    throw new BlobTooLargeException(MaxNzbBytes);

                hash.AppendData(buffer, 0, read);
                await brotli.WriteAsync(buffer.AsMemory(0, read), cancellationToken);
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }

        return length;
    }

    /// <summary>A hash becomes part of a path, so nothing else may pass.</summary>
    private static string CheckHash(string hash) =>
        hash.Length == 64 && hash.All(char.IsAsciiHexDigitLower)
            ? hash
            : throw new ArgumentException("Not a SHA-256 in lower-case hex.", nameof(hash));
}
