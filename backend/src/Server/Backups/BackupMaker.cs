using System.Globalization;
using System.Reflection;
using System.Security.Cryptography;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Backups;

/// <summary>
/// Creates one backup: copies the database, lists the blobs that the copy needs, reads everything back, and only then names the folder (OPS-1, OPS-2). A kill
/// at any time leaves an unfinished folder, which the next startup removes.
/// </summary>
/// <remarks>Calls must not overlap, and each blocks its thread.</remarks>
internal sealed class BackupMaker(
    DataFolder folder,
    SluiceDatabase database,
    MigrationRunner migrations,
    BlobStore blobs,
    BackupFolder backups,
    BackupProof proof,
    IBlobFiles files,
    IEnumerable<BlobReference> references,
    SecretBox box,
    IOptionsMonitor<BackupOptions> options,
    TimeProvider time)
{
    private const long SpareBytes = 64L << 20;

    private static readonly string ProgramVersion =
        typeof(BackupMaker).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion ?? "";

    /// <summary>Creates a backup.</summary>
    /// <exception cref="BackupFailedException">The backup was created but failed verification. It is kept under another name.</exception>
    /// <exception cref="StorageException">The disk is full or fails. Nothing is left behind.</exception>
    public Backup Make(BackupKind kind, CancellationToken cancellationToken) => OnDisk(() => MakeOnDisk(kind, cancellationToken));

    /// <summary>Renews a backup if neither the database nor the passphrase has changed since. Returns false if either has.</summary>
    /// <exception cref="StorageException">The disk is full or fails.</exception>
    public bool TryRenew(Backup last) => OnDisk(() =>
    {
        if (last.Manifest.Mark.Length == 0 || last.Manifest.Mark != ReadMark() || !IsSealedAsSet(last))
            return false;
        (last.Manifest with { StillTrueAt = time.WallTime() }).Write(last.Path);
        return true;
    });

    private Backup MakeOnDisk(BackupKind kind, CancellationToken cancellationToken)
    {
        // Read the mark before the copy. A write in between then makes the mark stale instead of the copy.
        var mark = ReadMark();
        RequireSpace();
        var at = time.WallTime();
        at = new DateTimeOffset(at.Ticks - (at.Ticks % TimeSpan.TicksPerSecond), at.Offset).ToUniversalTime();
        var partial = backups.Begin(at, migrations.Latest);
        try
        {
            Failpoint.Reach("backup-begun");
            database.CopyTo(Path.Combine(partial, BackupFolder.DatabaseName), cancellationToken);
            Failpoint.Reach("backup-copied");
            Describe(partial, kind, at, mark, cancellationToken);
            Failpoint.Reach("backup-described");
            if (proof.FindFlaw(partial, blobs, cancellationToken) is { } flaw)
            {
                backups.Fail(partial);
                throw new BackupFailedException(flaw);
            }

            Failpoint.Reach("backup-proved");
            var made = backups.Complete(partial);
            Failpoint.Reach("backup-named");
            return made;
        }
        catch
        {
            BackupFolder.Discard(partial);
            throw;
        }
    }

    private T OnDisk<T>(Func<T> work)
    {
        try
        {
            return work();
        }
        catch (Exception e) when (e is not BackupFailedException && StorageException.From(e, folder.Backups) is { } fault)
        {
            throw fault;
        }
    }

    private void Describe(string partial, BackupKind kind, DateTimeOffset at, string mark, CancellationToken cancellationToken)
    {
        var path = Path.Combine(partial, BackupFolder.DatabaseName);
        PrivateFile.Sync(path);
        using var copy = DatabaseCopy.Open(path);
        var keys = BackupKeys.ToBytes(copy.HashesOf(references).Select(hash => BlobStore.KeyOf(hash)));
        PrivateFile.Replace(Path.Combine(partial, BackupKeys.FileName), keys);
        var (count, bytes) = proof.Measure(copy, blobs);
        var manifest = new BackupManifest(
            Path.GetFileName(partial)[..^PrivateFile.PartialSuffix.Length],
            kind,
            at,
            ProgramVersion,
            copy.ReadVersion(),
            copy.ReadInstance() ?? "",
            copy.ReadGeneration(),
            copy.ReadNumbers(),
            BackupProof.HashOf(path, cancellationToken),
            Convert.ToHexStringLower(SHA256.HashData(keys)),
            new FileInfo(path).Length,
            copy.CountRows(),
            count,
            bytes)
        {
            StillTrueAt = at,
            Mark = mark,
            SealedKeySha256 = SealKey(partial),
        };
        manifest.Write(partial);
    }

    /// <summary>Adds this server's encrypted key if a passphrase is set. Returns the hash of the key's file, or null.</summary>
    private string? SealKey(string partial)
    {
        if (options.CurrentValue.Passphrase is not { Length: > 0 } passphrase || box.CopyKey() is not { } key)
            return null;
        var file = SealedKey.Seal(key, passphrase);
        PrivateFile.Replace(Path.Combine(partial, SealedKey.FileName), file);
        return Convert.ToHexStringLower(SHA256.HashData(file));
    }

    /// <summary>Whether a backup has this server's key under the current passphrase, or no key if no passphrase is set.</summary>
    private bool IsSealedAsSet(Backup last) =>
        options.CurrentValue.Passphrase is { Length: > 0 } passphrase && box.CopyKey() is { } key
            ? SealedKey.TryOpen(last.Path, passphrase) is { } found && CryptographicOperations.FixedTimeEquals(key, found)
            : last.Manifest.SealedKeySha256 is null;

    private void RequireSpace()
    {
        var length = new FileInfo(folder.Database).Length;
        if (files.FreeBytes(folder.Backups) < length + (length / 5) + SpareBytes)
            throw StorageException.Full(folder.Backups);
    }

    /// <summary>Length and write time of the database file and its log, which change with every commit and every checkpoint.</summary>
    private string ReadMark() => string.Join(' ', ((string[])[folder.Database, folder.Database + "-wal"]).Select(path => new FileInfo(path)).Select(
        file => file.Exists ? string.Create(CultureInfo.InvariantCulture, $"{file.Length}:{file.LastWriteTimeUtc.Ticks}") : "0:0"));
}

/// <summary>A backup was created but failed verification. The message says why, as the end of a sentence.</summary>
internal sealed class BackupFailedException(string flaw) : Exception(flaw);
