using System.Globalization;
using System.Reflection;
using System.Security.Cryptography;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Backups;

/// <summary>
/// Makes one backup: copies the database, lists the blobs that it needs, reads everything back, and only then names the folder (OPS-1, OPS-2). A kill at
/// any moment leaves an unfinished folder, which is removed at the next startup.
/// </summary>
/// <remarks>Calls must not overlap, and block their thread.</remarks>
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

    /// <summary>Makes a backup.</summary>
    /// <exception cref="BackupFailedException">It was made, but failed verification. It is kept under another name.</exception>
    /// <exception cref="StorageException">The disk is full or fails. Nothing is left behind.</exception>
    public Backup Make(BackupKind kind, CancellationToken cancellationToken)
    {
        // Read before the copy, so that a write in between makes the mark stale rather than the copy.
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
        catch (Exception e)
        {
            BackupFolder.Discard(partial);
            if (e is not BackupFailedException && StorageException.From(e, folder.Backups) is { } fault)
                throw fault;
            throw;
        }
    }

    /// <summary>Renews a backup if neither the database nor the passphrase has changed since. Returns false if one has.</summary>
    public bool TryRenew(Backup last)
    {
        if (last.Manifest.Mark.Length == 0 || last.Manifest.Mark != ReadMark() || !IsSealedAsSet(last))
            return false;
        (last.Manifest with { StillTrueAt = time.WallTime() }).Write(last.Path);
        return true;
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

    /// <summary>Adds the key of this server if there is a passphrase. Returns the hash of its file, or null.</summary>
    private string? SealKey(string partial)
    {
        if (options.CurrentValue.Passphrase is not { Length: > 0 } passphrase || box.CopyKey() is not { } key)
            return null;
        var file = SealedKey.Seal(key, passphrase);
        PrivateFile.Replace(Path.Combine(partial, SealedKey.FileName), file);
        return Convert.ToHexStringLower(SHA256.HashData(file));
    }

    /// <summary>Whether a backup has the key of this server under the current passphrase, or none if there is no passphrase.</summary>
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

    /// <summary>Marks of the database file and its log, which change with every commit and every checkpoint.</summary>
    private string ReadMark() => string.Join(' ', ((string[])[folder.Database, folder.Database + "-wal"]).Select(path => new FileInfo(path)).Select(
        file => file.Exists ? string.Create(CultureInfo.InvariantCulture, $"{file.Length}:{file.LastWriteTimeUtc.Ticks}") : "0:0"));
}

/// <summary>A backup was made but failed verification; the message says why, as the end of a sentence.</summary>
internal sealed class BackupFailedException(string flaw) : Exception(flaw);
