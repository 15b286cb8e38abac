using System.Globalization;
using System.IO.Compression;
using System.IO.Enumeration;
using System.Security.Cryptography;
using Microsoft.Win32.SafeHandles;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Database;

/// <summary>
/// Stores NZBs (<c>&lt;hash&gt;.nzb.br</c>), their message-id lists (<c>&lt;hash&gt;.ids</c>) and packed uploads (<c>&lt;hash&gt;.raw</c>) as files.
/// A blob must be saved before a row refers to it. Thread-safe. Saving the same NZB twice produces the same file.
/// </summary>
internal sealed class BlobStore(DataFolder folder, IBlobFiles files, BlobQuarantine quarantine, TimeProvider time, StorageState? state = null) : IBlobSource
{
    /// <summary>Maximum NZB size in bytes of plain text (docs/contracts/reliability.md, section 3).</summary>
    public const long MaxNzbBytes = 256L << 20;

    public const string NzbSuffix = ".nzb.br";
    public const string RawSuffix = ".raw";

    private const string IdsSuffix = ".ids";
    private const long SpareBytes = 64L << 20;
    private const int HashLength = 64;

    // A blob is written before its row, so a recent blob without a row may belong to an upload in progress.
    private static readonly TimeSpan OrphanAge = TimeSpan.FromHours(1);

    // Saving replaces a blob with the same hash. The content is the same, and the new date protects the blob from the orphan sweep.
    private readonly DurableFolder _saved = new(folder.Blobs, files, state);

    /// <summary>Refuses an upload early, before any of its bytes are written.</summary>
    /// <exception cref="StorageException">Less than 3 × size + 64 MiB are free (IMP-4). The size is in bytes, or 0 if unknown.</exception>
    public void RequireSpace(long size) => _saved.RequireFree(checked(3 * size) + SpareBytes);

    /// <summary>Reads an NZB to its end and stores it, compressed and durable.</summary>
    /// <param name="plain">The NZB as text; read once, forward only, and left open.</param>
    /// <param name="read">Parses the NZB while it is being written, and may stop early. Must not throw for invalid content. Null to skip parsing.</param>
    /// <param name="beforeNaming">Receives the hash once the NZB is read, before the blob becomes visible.</param>
    /// <param name="cancellationToken">Deletes the partial file.</param>
    /// <exception cref="BlobTooLargeException">The NZB is longer than <see cref="MaxNzbBytes"/>.</exception>
    /// <exception cref="StorageException">The blob cannot be written.</exception>
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

    /// <summary>Stores an NZB that is already compressed, such as a copy from a backup, durably under its hash.</summary>
    /// <exception cref="StorageException">The blob cannot be written.</exception>
    public Task AdoptNzbAsync(string hash, Stream packed, CancellationToken cancellationToken) => _saved.SaveAsync(
        async file =>
        {
            await packed.CopyToAsync(file, cancellationToken);
            return CheckHash(hash) + NzbSuffix;
        },
        cancellationToken);

    /// <summary>Stores an upload unchanged and durably. The caller must limit the length of the body.</summary>
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

    /// <summary>Stores the message-id list of an NZB durably. Returns its size on disk.</summary>
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

    /// <summary>Whether the NZB's blob exists. Damage is found only by reading the blob.</summary>
    /// <exception cref="StorageException">The folder cannot be read, so the NZB may or may not exist.</exception>
    public bool ContainsNzb(string hash)
    {
        var path = _saved.PathOf(CheckHash(hash) + NzbSuffix);
        try
        {
            // FileInfo.Exists would also be false if access is denied.
            return DurableFolder.Read(() => (File.GetAttributes(path) & FileAttributes.Directory) == 0, path);
        }
        catch (FileNotFoundException)
        {
            return false;
        }
    }

    /// <summary>Opens the plain text of a stored NZB.</summary>
    /// <exception cref="FileNotFoundException">The blob is lost. Reading a corrupt one throws <see cref="InvalidDataException"/>.</exception>
    public Stream OpenNzb(string hash) =>
        new BrotliStream(_saved.OpenRead(_saved.PathOf(CheckHash(hash) + NzbSuffix)), CompressionMode.Decompress);

    /// <summary>Opens an upload in the form in which it was received.</summary>
    /// <exception cref="FileNotFoundException">The blob is lost.</exception>
    public Stream OpenRaw(string hash) => _saved.OpenRead(_saved.PathOf(CheckHash(hash) + RawSuffix));

    /// <summary>Opens a stored message-id list for random access.</summary>
    /// <exception cref="FileNotFoundException">The list is lost; it can be rebuilt from the NZB.</exception>
    public SafeFileHandle OpenIds(string hash)
    {
        var path = _saved.PathOf(CheckHash(hash) + IdsSuffix);
        return DurableFolder.Read(() => File.OpenHandle(path, FileMode.Open, FileAccess.Read, FileShare.Read | FileShare.Delete), path);
    }

    /// <summary>Creates a temporary file that is deleted when the stream is disposed, or at the next startup after a crash.</summary>
    public Stream CreateTemporary() => _saved.CreateTemporary();

    /// <summary>Quarantines an unreferenced NZB and its message-id list. Deletes a packed upload, because its NZBs are stored separately.</summary>
    public void Retire(string hash) => _saved.Run(() =>
    {
        Failpoint.Reach("retire-begins");
        quarantine.Take(_saved.PathOf(CheckHash(hash) + NzbSuffix));
        Failpoint.Reach("retire-half-done");
        quarantine.Take(_saved.PathOf(hash + IdsSuffix));
        files.Delete(_saved.PathOf(hash + RawSuffix));
    });

    /// <summary>Restores a quarantined NZB and its message-id list. Returns whether the NZB was found.</summary>
    public bool TryRestore(string hash)
    {
        quarantine.TryRestore(_saved.PathOf(CheckHash(hash) + IdsSuffix));
        return quarantine.TryRestore(_saved.PathOf(hash + NzbSuffix));
    }

    /// <summary>Keys of all stored NZBs. Uses only file names, because every startup calls this.</summary>
    public HashSet<UInt128> ListNzbs() => DurableFolder.Read(
        () => new FileSystemEnumerable<UInt128>(folder.Blobs, (ref FileSystemEntry entry) => KeyOf(entry.FileName[..HashLength]))
        {
            ShouldIncludePredicate = (ref FileSystemEntry entry) => entry.FileName.Length == HashLength + NzbSuffix.Length
                && entry.FileName.EndsWith(NzbSuffix, StringComparison.Ordinal),
        }.ToHashSet(),
        folder.Blobs);

    /// <remarks>Includes quarantined NZBs, because startup restores them if a row references them.</remarks>
    public Dictionary<UInt128, long> MeasureNzbs()
    {
        var lengths = new Dictionary<UInt128, long>();
        foreach (var path in quarantine.List().Where(path => path.EndsWith(NzbSuffix, StringComparison.Ordinal)))
            lengths[KeyOf(Path.GetFileName(path).Split('.')[0])] = new FileInfo(path).Length;
        foreach (var (key, length) in MeasureNzbs(folder.Blobs))
            lengths[key] = length;
        return lengths;
    }

    /// <summary>Measures the NZBs in a folder without opening them.</summary>
    public static Dictionary<UInt128, long> MeasureNzbs(string path) => DurableFolder.Read(
        () => new FileSystemEnumerable<(UInt128, long)>(
            path,
            (ref FileSystemEntry entry) => (KeyOf(entry.FileName[..HashLength]), entry.Length),
            new EnumerationOptions { RecurseSubdirectories = true, MaxRecursionDepth = 1, AttributesToSkip = FileAttributes.None })
        {
            ShouldIncludePredicate = (ref FileSystemEntry entry) => !entry.IsDirectory && entry.FileName.Length == HashLength + NzbSuffix.Length
                && entry.FileName.EndsWith(NzbSuffix, StringComparison.Ordinal),
        }.DistinctBy(static found => found.Item1).ToDictionary(),
        path);

    /// <summary>Finds stored NZBs by key. Returns hash, last write time and bytes on disk.</summary>
    public IReadOnlyList<(string Hash, DateTimeOffset At, long Bytes)> FindNzbs(IReadOnlySet<UInt128> keys) =>
    [
        .. _saved.List().Where(file => file.Name.EndsWith(NzbSuffix, StringComparison.Ordinal) && HashOf(file.Name) is { } hash && keys.Contains(KeyOf(hash)))
            .Select(file => (HashOf(file.Name)!, new DateTimeOffset(file.LastWriteTimeUtc, TimeSpan.Zero), file.Length)),
    ];

    /// <inheritdoc/>
    public FileStream? OpenBlob(string name)
    {
        CheckHash(name.Split('.')[0]);
        return DurableFolder.Read(
            () =>
            {
                var path = _saved.PathOf(name);
                var found = File.Exists(path) ? path : quarantine.Find(name);
                return found is null ? null : files.OpenRead(found);
            },
            folder.Blobs);
    }

    /// <summary>Whether a stored NZB decompresses to content with this hash. False if the NZB is damaged.</summary>
    public static bool IsWhole(Stream packed, string hash)
    {
        try
        {
            using var plain = new BrotliStream(packed, CompressionMode.Decompress, leaveOpen: true);
            return Convert.ToHexStringLower(SHA256.HashData(plain)) == hash;
        }
        catch (Exception e) when (e is InvalidDataException or InvalidOperationException)
        {
            return false;
        }
    }

    /// <summary>Returns the first half of a hash, because large sets then need a fifth of the memory. Other text yields zero, which matches no blob.</summary>
    public static UInt128 KeyOf(ReadOnlySpan<char> hash) =>
        hash.Length == HashLength && UInt128.TryParse(hash[..(HashLength / 2)], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var key)
            ? key
            : UInt128.Zero;

    /// <summary>Finds temporary files and unreferenced blobs that are over an hour old. The row of a newer blob may still be written.</summary>
    public Orphans FindOrphans(IReadOnlySet<UInt128> referenced)
    {
        var (paths, orphaned, stored) = (new List<string>(), new HashSet<string>(), 0);
        var oldest = time.WallTime() - OrphanAge;
        foreach (var file in _saved.List())
        {
            // Leave files of other programs alone.
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

    /// <summary>Quarantines an orphan, unless an upload has rewritten it.</summary>
    public bool TryQuarantine(string path) => DurableFolder.Read(
        () =>
        {
            quarantine.Take(path);
            return !IsYoung(quarantine.Newest(path)) || !quarantine.TryRestore(path);
        },
        path);

    private bool IsYoung(FileInfo file) => file.Exists && file.LastWriteTimeUtc >= (time.WallTime() - OrphanAge).UtcDateTime;

    /// <summary>Returns the hash in a blob's file name; null for any other file.</summary>
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

    /// <summary>Throws unless the string is a hash, because it becomes part of a path.</summary>
    private static string CheckHash(string hash) =>
        hash.Length == HashLength && hash.All(char.IsAsciiHexDigitLower)
            ? hash
            : throw new ArgumentException("Not a SHA-256 in lower-case hex.", nameof(hash));
}

/// <summary>The blobs that belong to a database: in the data folder and its quarantine, or in a copy elsewhere.</summary>
internal interface IBlobSource
{
    /// <summary>Returns the bytes on disk of every NZB, by <see cref="BlobStore.KeyOf"/>.</summary>
    Dictionary<UInt128, long> MeasureNzbs();

    /// <summary>Opens a blob in its stored form, by file name; null if there is no such blob. The caller disposes it.</summary>
    FileStream? OpenBlob(string name);
}

/// <summary>Paths of unreferenced blob files, the number of distinct hashes among them, and the number of all stored NZBs.</summary>
internal sealed record Orphans(IReadOnlyList<string> Paths, int Hashes, int Stored);

/// <summary>A durably stored NZB or upload.</summary>
/// <param name="Hash">SHA-256 of the plain bytes in 64 lowercase hex digits; also the file name.</param>
/// <param name="StoredLength">Bytes on disk.</param>
internal sealed record StoredBlob(string Hash, long PlainLength, long StoredLength);

/// <summary>The NZB exceeds the size limit; nothing was stored.</summary>
internal sealed class BlobTooLargeException(long limit) : IOException($"The NZB is larger than {limit >> 20} MiB.")
{
    public long Limit { get; } = limit;
}
