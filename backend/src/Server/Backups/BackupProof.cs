using System.Data.Common;
using System.Security.Cryptography;
using Sluice.Server.Database;

namespace Sluice.Server.Backups;

/// <summary>
/// Verifies a backup: its hashes, every page of its database, and the NZBs that the database references (OPS-2). Read-only. Works on backups of any
/// installation.
/// </summary>
internal sealed class BackupProof(IEnumerable<BlobReference> references, Random random)
{
    /// <summary>How many NZBs are decompressed and hashed.</summary>
    private const int Sampled = 64;

    private readonly IReadOnlyList<BlobReference> _references = [.. references];

    /// <summary>Returns why a backup fails verification, as the end of a sentence; null if it is intact. Blocks the calling thread.</summary>
    /// <param name="folder">The folder of the backup.</param>
    /// <param name="blobs">Where the NZBs are; null if they were checked already.</param>
    /// <exception cref="StorageException">The files cannot be read, so they may or may not be damaged.</exception>
    public string? FindFlaw(string folder, IBlobSource? blobs, CancellationToken cancellationToken)
    {
        if (BackupManifest.Read(folder) is not { } manifest)
            return $"{BackupManifest.FileName} is missing or damaged";
        if (FindFlawInFile(Path.Combine(folder, BackupFolder.DatabaseName), manifest.Sha256, cancellationToken) is { } damaged)
            return damaged;
        if (FindFlawInFile(Path.Combine(folder, BackupKeys.FileName), manifest.KeysSha256, cancellationToken) is { } lost)
            return lost;
        if (manifest.SealedKeySha256 is { } sealedKey && FindFlawInFile(Path.Combine(folder, SealedKey.FileName), sealedKey, cancellationToken) is { } locked)
            return locked;

        try
        {
            return FindFlawInContent(folder, manifest, blobs, cancellationToken);
        }
        catch (DbException e)
        {
            return $"{BackupFolder.DatabaseName} is damaged: {e.Message}";
        }
    }

    private string? FindFlawInContent(string folder, BackupManifest manifest, IBlobSource? blobs, CancellationToken cancellationToken)
    {
        using var copy = DatabaseCopy.Open(Path.Combine(folder, BackupFolder.DatabaseName));
        if (copy.FindFlaw(cancellationToken) is { } flaw)
            return flaw;
        if (copy.ReadVersion() != manifest.Schema || !copy.CountRows().SequenceEqual(manifest.Rows))
            return $"{BackupManifest.FileName} describes another database";
        if (!copy.HashesOf(_references).Select(hash => BlobStore.KeyOf(hash)).ToHashSet().SetEquals(BackupKeys.Read(folder)))
            return $"{BackupKeys.FileName} belongs to another database";
        return blobs is null ? null : FindFlawInBlobs(copy, manifest, blobs, cancellationToken);
    }

    /// <summary>Counts the stored NZBs that a database references, and their bytes.</summary>
    public (long Count, long Bytes) Measure(DatabaseCopy copy, IBlobSource blobs)
    {
        var stored = blobs.MeasureNzbs();
        var needed = Nzbs(copy).Select(hash => BlobStore.KeyOf(hash)).ToHashSet();
        return (needed.Count(stored.ContainsKey), needed.Sum(key => stored.GetValueOrDefault(key)));
    }

    /// <summary>Hashes of the NZBs that must exist, including duplicates.</summary>
    private IEnumerable<string> Nzbs(DatabaseCopy copy) => copy.HashesOf(_references.Where(reference => reference.IsNzb));

    private string? FindFlawInBlobs(DatabaseCopy copy, BackupManifest manifest, IBlobSource blobs, CancellationToken cancellationToken)
    {
        var (stored, lost, seen) = (blobs.MeasureNzbs(), copy.LostNzbs(), new HashSet<UInt128>());
        var (count, bytes, sample) = (0L, 0L, new List<string>());
        foreach (var hash in Nzbs(copy))
        {
            if (!seen.Add(BlobStore.KeyOf(hash)))
                continue;
            if (!stored.TryGetValue(BlobStore.KeyOf(hash), out var length))
            {
                // The database lists these NZBs as lost, and no backup can restore them.
                if (lost.Contains(hash))
                    continue;
                return $"NZB {hash} is missing";
            }

            (count, bytes) = (count + 1, bytes + length);
            // Every NZB is chosen with the same probability, however many there are.
            if (sample.Count < Sampled)
                sample.Add(hash);
            else if (random.NextInt64(count) is var place and < Sampled)
                sample[(int)place] = hash;
        }

        // If the count or total length differs from the manifest, check every NZB instead of a sample.
        var all = count == manifest.Blobs && bytes == manifest.BlobBytes ? sample : Nzbs(copy).Distinct().Where(hash => stored.ContainsKey(BlobStore.KeyOf(hash)));
        foreach (var hash in all)
        {
            cancellationToken.ThrowIfCancellationRequested();
            using var packed = blobs.OpenBlob(hash + BlobStore.NzbSuffix);
            if (packed is null || !BlobStore.IsWhole(packed, hash))
                return $"NZB {hash} is {(packed is null ? "missing" : "damaged")}";
        }

        return null;
    }

    private static string? FindFlawInFile(string path, string sha256, CancellationToken cancellationToken)
    {
        try
        {
            return HashOf(path, cancellationToken) == sha256 ? null : $"{Path.GetFileName(path)} is damaged";
        }
        catch (FileNotFoundException)
        {
            return $"{Path.GetFileName(path)} is missing";
        }
    }

    /// <summary>SHA-256 of a file, in lowercase hex.</summary>
    /// <exception cref="FileNotFoundException">The file does not exist.</exception>
    public static string HashOf(string path, CancellationToken cancellationToken) => DurableFolder.Read(
        () =>
        {
            using var file = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.Read | FileShare.Delete, bufferSize: 0, FileOptions.SequentialScan);
            using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
            var piece = new byte[256 << 10];
            while (file.Read(piece) is var read and > 0)
            {
                cancellationToken.ThrowIfCancellationRequested();
                hash.AppendData(piece.AsSpan(0, read));
            }

            return Convert.ToHexStringLower(hash.GetHashAndReset());
        },
        path);
}
