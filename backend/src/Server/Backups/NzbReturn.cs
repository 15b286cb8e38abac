using Sluice.Server.Database;

namespace Sluice.Server.Backups;

/// <summary>
/// Copies a backup's NZBs from a second folder back to the data folder, before the database is replaced (OPS-5, OPS-11). On a new machine, this means all of
/// its NZBs. Skips NZBs that are already in the data folder, so a repetition after a kill continues where the copying stopped.
/// </summary>
internal sealed class NzbReturn(BlobPool pool, BlobStore blobs, IEnumerable<BlobReference> references)
{
    private readonly IReadOnlyList<BlobReference> _references = [.. references.Where(reference => reference.IsNzb)];

    /// <summary>Copies the missing NZBs. Returns why that is impossible, as the end of a sentence, or null.</summary>
    /// <param name="backup">The folder of a verified backup.</param>
    /// <exception cref="StorageException">A disk is full or fails.</exception>
    public async Task<string?> RunAsync(string backup, CancellationToken cancellationToken)
    {
        using var copy = DatabaseCopy.Open(Path.Combine(backup, BackupFolder.DatabaseName));
        var present = blobs.MeasureNzbs().Keys.ToHashSet();
        foreach (var hash in copy.HashesOf(_references).Where(hash => present.Add(BlobStore.KeyOf(hash))))
        {
            await using var packed = pool.OpenBlob(hash + BlobStore.NzbSuffix);
            // The verification has accepted these NZBs as lost.
            if (packed is null)
                continue;
            // The verification has read only a sample of the NZBs.
            if (!BlobStore.IsWhole(packed, hash))
                return $"NZB {hash} is damaged";
            packed.Position = 0;
            await blobs.AdoptNzbAsync(hash, packed, cancellationToken);
        }

        return null;
    }
}
