using Sluice.Server.Database;

namespace Sluice.Server.Backups;

/// <summary>
/// Complete copies of backups on another disk: the same folders, and one <see cref="BlobPool"/> (OPS-5). A copy gets its name only after all its bytes were
/// read back. A kill at any time leaves an unfinished folder, and copies of NZBs that the next run reuses.
/// </summary>
/// <remarks>Calls must not overlap, and each blocks its thread.</remarks>
internal sealed class SecondFolder(string path, IBlobFiles files, BackupProof proof, IEnumerable<BlobReference> references)
{
    private const long SpareBytes = 64L << 20;

    private readonly IReadOnlyList<BlobReference> _references = [.. references.Where(reference => reference.IsNzb)];

    public BackupFolder Backups { get; } = new(path);

    public BlobPool Pool { get; } = BlobPool.In(path, files);

    /// <summary>Throws if the folder is missing or belongs to another installation of Sluice.</summary>
    /// <param name="instance">Id of this installation.</param>
    /// <param name="wasUsed">Whether the folder has held backups before.</param>
    /// <exception cref="BackupFailedException">The message says why.</exception>
    public void Require(string instance, bool wasUsed)
    {
        if (!Directory.Exists(path))
            throw new BackupFailedException("the folder does not exist");
        // If a disk is not mounted, its mount point is empty, and copies there would fill the wrong disk.
        if (wasUsed && !Pool.Exists)
            throw new BackupFailedException("the folder is empty, but held backups before; is its disk mounted?");
        if (Backups.List().Any(backup => backup.Manifest.Instance != instance))
            throw new BackupFailedException("the folder holds backups of another Sluice; restore one of them, or choose another folder");
    }

    /// <summary>Copies a verified backup with the NZBs that are not yet in this folder, and verifies the copy.</summary>
    /// <returns>The copy, and the number of NZBs copied with it.</returns>
    /// <exception cref="BackupFailedException">The copy failed verification.</exception>
    /// <exception cref="StorageException">A disk is full or fails. NZBs already copied stay for the next attempt.</exception>
    public (Backup Made, int Nzbs) Copy(Backup from, IBlobSource originals, CancellationToken cancellationToken)
    {
        try
        {
            Backups.RemovePartials();
            Pool.Prepare();
            Failpoint.Reach("second-begun");
            var nzbs = CopyNzbs(from, originals, cancellationToken);
            Failpoint.Reach("second-nzbs-copied");
            return (CopyFolder(from, originals, cancellationToken), nzbs);
        }
        catch (Exception e) when (e is not BackupFailedException && StorageException.From(e, path) is { } fault)
        {
            throw fault;
        }
    }

    /// <summary>Deletes backups past their retention, and the NZBs that no other backup needs.</summary>
    /// <returns>The deleted backups.</returns>
    public IReadOnlyList<Backup> Prune(int days, int weeks, DateTimeOffset now)
    {
        var old = RetentionPolicy.Choose(Backups.List(), days, weeks, now);
        foreach (var backup in old)
            Backups.Delete(backup);
        Failpoint.Reach("second-pruned");
        Pool.DeleteExcept(Backups.ReadKeys());
        return old;
    }

    private int CopyNzbs(Backup from, IBlobSource originals, CancellationToken cancellationToken)
    {
        using var copy = DatabaseCopy.Open(Path.Combine(from.Path, BackupFolder.DatabaseName));
        var (present, lengths) = (Pool.MeasureNzbs().Keys.ToHashSet(), originals.MeasureNzbs());
        var missing = copy.HashesOf(_references).Where(hash => present.Add(BlobStore.KeyOf(hash))).ToList();
        var bytes = missing.Sum(hash => lengths.GetValueOrDefault(BlobStore.KeyOf(hash))) + from.Manifest.Bytes;
        if (files.FreeBytes(path) < bytes + SpareBytes)
            throw StorageException.Full(path);
        foreach (var name in missing.Select(hash => hash + BlobStore.NzbSuffix))
        {
            // If the NZB is missing, the verification decides whether it is known to be lost.
            using var original = originals.OpenBlob(name);
            if (original is not null)
                Pool.Put(name, original, cancellationToken);
        }

        Pool.Flush();
        return missing.Count;
    }

    private Backup CopyFolder(Backup from, IBlobSource originals, CancellationToken cancellationToken)
    {
        var partial = Backups.BeginCopy(from.Id);
        try
        {
            var piece = new byte[1 << 20];
            foreach (var name in from.FileNames)
            {
                using var source = files.OpenRead(Path.Combine(from.Path, name));
                files.Copy(source, Path.Combine(partial, name), piece, cancellationToken);
            }

            Failpoint.Reach("second-folder-copied");
            Verify(partial, originals, cancellationToken);
            Failpoint.Reach("second-proved");
            var made = Backups.Complete(partial);
            Failpoint.Reach("second-named");
            return made;
        }
        catch
        {
            BackupFolder.Discard(partial);
            throw;
        }
    }

    private void Verify(string partial, IBlobSource originals, CancellationToken cancellationToken)
    {
        if (proof.FindFlaw(partial, Pool, cancellationToken) is null)
            return;
        // The flaw may be an old copy of an NZB, so reread and replace all copies before giving up.
        new PoolCheck(Pool, originals).RunAll(cancellationToken);
        if (proof.FindFlaw(partial, Pool, cancellationToken) is not { } flaw)
            return;
        Backups.Fail(partial);
        throw new BackupFailedException(flaw);
    }
}
