using System.Globalization;
using System.IO.Compression;
using System.IO.Enumeration;
using System.Security.Cryptography;
using Microsoft.Win32.SafeHandles;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Database;

/// <summary>
/// Keeps NZBs (<c>&lt;hash&gt;.nzb.br</c>), their message-id lists (<c>&lt;hash&gt;.ids</c>) and packed uploads as they came
/// (<c>&lt;hash&gt;.raw</c>) as files. A row may refer to one only after it has been saved.
/// </summary>
/// <remarks>Thread-safe. Two saves of the same NZB give the same file.</remarks>
internal sealed class BlobStore(DataFolder folder, IBlobFiles files, BlobQuarantine quarantine, TimeProvider time, StorageState? state = null)
{
    /// <summary>Longest NZB in bytes of plain text (docs/contracts/reliability.md, section 3).</summary>
    public const long MaxNzbBytes = 256L << 20;

    private const string NzbSuffix = ".nzb.br";
    private const string IdsSuffix = ".ids";
    private const string RawSuffix = ".raw";
    private const long SpareBytes = 64L << 20;
    private const int HashLength = 64;

    // A blob is written before the row that refers to it, so a young one without a row may be about to get one.
    private static readonly TimeSpan OrphanAge = TimeSpan.FromHours(1);

    // A blob is saved over one of its name as well: the content is the same, and the young date keeps a sweep away from it.
    private readonly DurableFolder _saved = new(folder.Blobs, files, state);

    /// <summary>Refuses early, before bytes of a request are written.</summary>
    /// <param name="size">Expected size of what will be saved, in bytes; 0 when unknown.</param>
    /// <exception cref="StorageException">Less than 3 × size + 64 MiB are free (IMP-4).</exception>
    public void RequireSpace(long size) => _saved.RequireFree(checked(3 * size) + SpareBytes);

    /// <summary>Reads an NZB to its end and keeps it, compressed. When the task completes it is on disk under its name.</summary>
    /// <param name="plain">The NZB as text; is read once, forward, and left open.</param>
    /// <param name="read">Reads the NZB on its way to the disk, as far as it likes; may throw nothing about its content. Null: nothing does.</param>
    /// <param name="beforeNaming">Told the hash once all has been read, before the blob of that hash is there.</param>
    /// <param name="cancellationToken">Gives up and removes what was written.</param>
    /// <exception cref="BlobTooLargeException">It is longer than <see cref="MaxNzbBytes"/>.</exception>
    /// <exception cref="StorageException">It cannot be written.</exception>
    public Task<StoredBlob> SaveNzbAsync(
        Stream plain,
        Func<Stream, CancellationToken, Task>? read,
        Func<string, CancellationToken, Task> beforeNaming,
        CancellationToken cancellationToken) =>
        SaveAsync(
            NzbSuffix,
            async (file, hash) =>
            {
                await using var brotli = new BrotliStream(file, CompressionLevel.Fastest, leaveOpen: true);
                await using var passing = new PassingStream(plain, brotli, hash, MaxNzbBytes);
                if (read is not null)
                    await read(passing, cancellationToken);
                return await passing.DrainAsync(cancellationToken);
            },
            beforeNaming,
            cancellationToken);

    /// <summary>Reads an upload to its end and keeps it as it came, as durably as an NZB.</summary>
    /// <param name="body">Is read once, forward, and left open. Limits its own length.</param>
    /// <param name="beforeNaming">Told the hash once all has been read, before the blob of that hash is there.</param>
    /// <param name="cancellationToken">Gives up and removes what was written.</param>
    /// <exception cref="StorageException">It cannot be written.</exception>
    public Task<StoredBlob> SaveRawAsync(Stream body, Func<string, CancellationToken, Task> beforeNaming, CancellationToken cancellationToken) =>
        SaveAsync(
            RawSuffix,
            async (file, hash) =>
            {
                await using var passing = new PassingStream(body, file, hash, long.MaxValue);
                return await passing.DrainAsync(cancellationToken);
            },
            beforeNaming,
            cancellationToken);

    /// <summary>Keeps the message-id list of an NZB, as durably as the NZB itself.</summary>
    /// <param name="hash">Hash of the NZB.</param>
    /// <param name="write">Writes the list; the stream is the caller's until the task completes.</param>
    /// <param name="cancellationToken">Gives up and removes what was written.</param>
    /// <returns>Bytes on disk.</returns>
    /// <exception cref="StorageException">It cannot be written.</exception>
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
    /// <exception cref="StorageException">The folder cannot be looked into, which says nothing about the NZB.</exception>
    public bool ContainsNzb(string hash)
    {
        var path = _saved.PathOf(CheckHash(hash) + NzbSuffix);
        try
        {
            // FileInfo.Exists is false for a file without access as well.
            return DurableFolder.Read(() => (File.GetAttributes(path) & FileAttributes.Directory) == 0, path);
        }
        catch (FileNotFoundException)
        {
            return false;
        }
    }

    /// <summary>The plain text of a stored NZB; the caller disposes the stream.</summary>
    /// <exception cref="FileNotFoundException">The blob is lost.</exception>
    /// <exception cref="InvalidDataException">Thrown by reading: the blob is damaged.</exception>
    public Stream OpenNzb(string hash) =>
        new BrotliStream(_saved.OpenRead(_saved.PathOf(CheckHash(hash) + NzbSuffix)), CompressionMode.Decompress);

    /// <summary>An upload as it came; the caller disposes the stream.</summary>
    /// <exception cref="FileNotFoundException">The blob is lost.</exception>
    public Stream OpenRaw(string hash) => _saved.OpenRead(_saved.PathOf(CheckHash(hash) + RawSuffix));

    /// <summary>A stored message-id list for reading at any place; the caller disposes the handle.</summary>
    /// <exception cref="FileNotFoundException">The list is lost; it can be derived again from the NZB.</exception>
    public SafeFileHandle OpenIds(string hash)
    {
        var path = _saved.PathOf(CheckHash(hash) + IdsSuffix);
        return DurableFolder.Read(() => File.OpenHandle(path, FileMode.Open, FileAccess.Read, FileShare.Read | FileShare.Delete), path);
    }

    /// <summary>A new file among the blobs for bytes on their way, recognized by its name after a crash.</summary>
    /// <returns>A stream for reading and writing, whose disposal removes the file.</returns>
    /// <exception cref="StorageException">It cannot be made; reading and writing throw the same.</exception>
    public Stream CreateTemporary() => _saved.CreateTemporary();

    /// <summary>
    /// Moves an NZB and its message-id list to the quarantine, once no row refers to them. An upload as it came is removed: what
    /// is in it is kept by itself.
    /// </summary>
    public void Retire(string hash) => _saved.Run(() =>
    {
        Failpoint.Reach("retire-begins");
        quarantine.Take(_saved.PathOf(CheckHash(hash) + NzbSuffix));
        Failpoint.Reach("retire-half-done");
        quarantine.Take(_saved.PathOf(hash + IdsSuffix));
        files.Delete(_saved.PathOf(hash + RawSuffix));
    });

    /// <summary>Finds an NZB again that lies in the quarantine, and its message-id list.</summary>
    public bool TryRestore(string hash)
    {
        quarantine.TryRestore(_saved.PathOf(CheckHash(hash) + IdsSuffix));
        return quarantine.TryRestore(_saved.PathOf(hash + NzbSuffix));
    }

    /// <summary>Keys of the NZBs that are stored, from the names alone: every start asks for all of them.</summary>
    /// <exception cref="StorageException">The folder cannot be looked into.</exception>
    public HashSet<UInt128> ListNzbs() => DurableFolder.Read(
        () => new FileSystemEnumerable<UInt128>(folder.Blobs, (ref FileSystemEntry entry) => KeyOf(entry.FileName[..HashLength]))
        {
            ShouldIncludePredicate = (ref FileSystemEntry entry) => entry.FileName.Length == HashLength + NzbSuffix.Length
                && entry.FileName.EndsWith(NzbSuffix, StringComparison.Ordinal),
        }.ToHashSet(),
        folder.Blobs);

    /// <summary>
    /// The first half of a hash, for sets of many hashes: a fifth of the memory. Text that is no hash gives zero, which no stored
    /// blob has.
    /// </summary>
    public static UInt128 KeyOf(ReadOnlySpan<char> hash) =>
        hash.Length == HashLength && UInt128.TryParse(hash[..(HashLength / 2)], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var key)
            ? key
            : UInt128.Zero;

    /// <summary>
    /// Files that a crash may have left: temporary files, and NZBs, lists and uploads without a row. Only those older than an hour,
    /// because a blob is written before the row that refers to it.
    /// </summary>
    /// <param name="referenced">Keys of the hashes that rows refer to.</param>
    public Orphans FindOrphans(IReadOnlySet<UInt128> referenced)
    {
        var (paths, orphaned, stored) = (new List<string>(), new HashSet<string>(), 0);
        var oldest = time.WallTime() - OrphanAge;
        foreach (var file in _saved.List())
        {
            // Anything else that lies here was not put here by Sluice and is left alone.
            var hash = HashOf(file.Name);
            if (hash is not null && file.Name.EndsWith(NzbSuffix, StringComparison.Ordinal))
                stored++;
            var isLeft = hash is null ? file.Name.EndsWith(DurableFolder.TemporarySuffix, StringComparison.Ordinal) : !referenced.Contains(KeyOf(hash));
            if (!isLeft || file.LastWriteTimeUtc >= oldest.UtcDateTime)
                continue;
            paths.Add(file.FullName);
            if (hash is not null)
                orphaned.Add(hash);
        }

        return new Orphans(paths, orphaned.Count, stored);
    }

    /// <summary>Moves a file of <see cref="FindOrphans"/> to the quarantine, unless an upload has written it anew meanwhile.</summary>
    /// <returns>Whether it was moved.</returns>
    /// <exception cref="StorageException">It cannot be moved.</exception>
    public bool TryQuarantine(string path) => DurableFolder.Read(
        () =>
        {
            quarantine.Take(path);
            return !IsYoung(quarantine.Newest(path)) || !quarantine.TryRestore(path);
        },
        path);

    private bool IsYoung(FileInfo file) => file.Exists && file.LastWriteTimeUtc >= (time.WallTime() - OrphanAge).UtcDateTime;

    /// <summary>The hash that the name of a blob begins with, or null for the name of another file.</summary>
    private static string? HashOf(string name)
    {
        var dot = name.IndexOf('.', StringComparison.Ordinal);
        return dot == HashLength && name[dot..] is NzbSuffix or IdsSuffix or RawSuffix ? name[..dot] : null;
    }

    private async Task<StoredBlob> SaveAsync(
        string suffix,
        Func<Stream, IncrementalHash, Task<long>> write,
        Func<string, CancellationToken, Task> beforeNaming,
        CancellationToken cancellationToken)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        long length = 0;
        var name = "";
        var storedLength = await _saved.SaveAsync(
            async file =>
            {
                length = await write(file, hash);
                name = Convert.ToHexStringLower(hash.GetHashAndReset());
                await beforeNaming(name, cancellationToken);
                return name + suffix;
            },
            cancellationToken);
        return new StoredBlob(name, length, storedLength);
    }

    /// <summary>A hash becomes part of a path, so nothing else may pass.</summary>
    private static string CheckHash(string hash) =>
        hash.Length == HashLength && hash.All(char.IsAsciiHexDigitLower)
            ? hash
            : throw new ArgumentException("Not a SHA-256 in lower-case hex.", nameof(hash));
}

/// <summary>Files of the blobs that nothing seems to refer to.</summary>
/// <param name="Paths">The files.</param>
/// <param name="Hashes">How many hashes they belong to.</param>
/// <param name="Stored">How many NZBs are stored, these included.</param>
internal sealed record Orphans(IReadOnlyList<string> Paths, int Hashes, int Stored);

/// <summary>An NZB, or an upload as it came, that is safe on disk.</summary>
/// <param name="Hash">SHA-256 of its bytes, 64 lower-case hex digits: its name.</param>
/// <param name="PlainLength">How many there are.</param>
/// <param name="StoredLength">Bytes on disk.</param>
internal sealed record StoredBlob(string Hash, long PlainLength, long StoredLength);

/// <summary>An NZB is longer than one may be; nothing was kept of it.</summary>
internal sealed class BlobTooLargeException(long limit) : IOException($"The NZB is larger than {limit >> 20} MiB.")
{
    /// <summary>The limit in bytes of plain text.</summary>
    public long Limit { get; } = limit;
}
