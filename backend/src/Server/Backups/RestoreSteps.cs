using Sluice.Server.Database;

namespace Sluice.Server.Backups;

/// <summary>
/// Performs a restore before the database is opened (OPS-11). Each step first checks whether it is already done, so that after a kill the next startup
/// continues. Nothing is replaced until the copy is complete; from then on, the restore always completes.
/// </summary>
/// <remarks>Requires the lock of the data folder.</remarks>
internal sealed class RestoreSteps(
    DataFolder folder, BackupProof proof, BlobStore blobs, IBlobFiles files, IEnumerable<BlobReference> references, ILogger<RestoreSteps> logger)
{
    /// <summary>Marks that NZBs added after the backup return to the queue automatically.</summary>
    public const string RequeueMark = "later.requeue";

    private static readonly string[] Companions = ["", "-wal", "-shm", "-journal"];

    private string Interim => folder.Database + ".restoring";

    /// <summary>Performs the requested restore. Returns false if none is requested or the backup fails verification.</summary>
    /// <exception cref="StorageException">The disk failed in the middle of the replacement. The next startup continues it.</exception>
    public async Task<bool> RunAsync(CancellationToken cancellationToken)
    {
        try
        {
            var isRestored = await RunStepsAsync(cancellationToken);
            if (Directory.Exists(folder.Unpacked))
                Directory.Delete(folder.Unpacked, recursive: true);
            return isRestored;
        }
        catch (Exception e) when (StorageException.From(e, folder.Root) is { } fault)
        {
            throw fault;
        }
    }

    private async Task<bool> RunStepsAsync(CancellationToken cancellationToken)
    {
        if (!File.Exists(folder.RestoreWish))
            return false;
        if (RestoreWish.Read(folder) is not { } wish)
        {
            BackupsLog.WishUnreadable(logger, folder.RestoreWish);
            RestoredKey.Discard(folder);
            RestoreWish.Remove(folder);
            return false;
        }

        var replaced = wish.ReplacedIn(folder);
        // This folder exists once the copy is complete. The copy exists until it is renamed to the database.
        if (!Directory.Exists(replaced))
        {
            if (await TryCopyAsync(wish, replaced, cancellationToken) is { } flaw)
            {
                BackupsLog.NotRestored(logger, wish.Folder, flaw);
                File.Delete(Interim);
                RestoredKey.Discard(folder);
                RestoreWish.Remove(folder);
                return false;
            }

            PosixCalls.SyncFolder(folder.Replaced);
            PosixCalls.SyncFolder(folder.Root);
            Failpoint.Reach("restore-begun");
        }

        if (File.Exists(Interim))
            ReplaceDatabase(replaced);
        RestoredKey.Place(folder);
        Failpoint.Reach("restore-key-placed");
        RestoredDatabase.Adopt(folder, references, blobs.ListNzbs());
        if (wish.Requeue)
            PrivateFile.Replace(Path.Combine(folder.Root, RequeueMark), []);
        Failpoint.Reach("restore-adopted");
        RestoreWish.Remove(folder);
        BackupsLog.Restored(logger, wish.Folder, wish.By, replaced);
        return true;
    }

    /// <summary>
    /// Verifies and copies the backup, then creates the folder for the replaced database. Returns why it cannot be restored, or null. A disk error must not
    /// prevent startup.
    /// </summary>
    private async Task<string?> TryCopyAsync(RestoreWish wish, string replaced, CancellationToken cancellationToken)
    {
        try
        {
            var pool = BlobPool.Beside(wish.Folder, files);
            if (FindFlaw(wish, pool ?? (IBlobSource)blobs, cancellationToken) is { } flaw)
                return flaw;
            if (pool is not null && await new NzbReturn(pool, blobs, references).RunAsync(wish.Folder, cancellationToken) is { } damaged)
                return damaged;
            CopyDatabase(wish, cancellationToken);
            // The copy may have filled the disk, so this can fail too. From here on, the restore completes.
            PrivateFile.CreateFolder(folder.Replaced);
            PrivateFile.CreateFolder(replaced);
            return null;
        }
        catch (Exception e) when (StorageException.From(e, wish.Folder) is { } fault)
        {
            return fault.Message;
        }
    }

    private string? FindFlaw(RestoreWish wish, IBlobSource source, CancellationToken cancellationToken) =>
        BackupManifest.Read(wish.Folder) is not { } manifest ? "its manifest is missing or damaged"
        : manifest.Sha256 != wish.Sha256 ? "it is another backup than the one that was chosen"
        : proof.FindFlaw(wish.Folder, source, cancellationToken);

    private void CopyDatabase(RestoreWish wish, CancellationToken cancellationToken)
    {
        File.Delete(Interim);
        using (var source = new FileStream(Path.Combine(wish.Folder, BackupFolder.DatabaseName), FileMode.Open, FileAccess.Read, FileShare.Read))
            PrivateFile.Copy(source, Interim, cancellationToken);
        PosixCalls.SyncFolder(folder.Root);
        Failpoint.Reach("restore-copied");
    }

    private void ReplaceDatabase(string replaced)
    {
        // Move the log together with its database, because it would corrupt any other database.
        foreach (var path in Companions.Select(suffix => folder.Database + suffix).Where(File.Exists))
        {
            File.Move(path, Path.Combine(replaced, Path.GetFileName(path)), overwrite: true);
            Failpoint.Reach("restore-moved");
        }

        PosixCalls.SyncFolder(replaced);
        File.Move(Interim, folder.Database);
        Failpoint.Reach("restore-named");
        PosixCalls.SyncFolder(folder.Root);
    }
}
