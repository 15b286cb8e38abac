namespace Sluice.Server.Database;

/// <summary>
/// A file of 1 MiB that only reserves space. If a start finds the disk full, it deletes the file so that the database opens and stored releases
/// are served (F34). The file is created again once there is room.
/// </summary>
internal sealed class DiskReserve(DataFolder folder, IBlobFiles files, ILogger<DiskReserve> logger)
{
    /// <summary>Reserved bytes: SQLite needs 64 KiB to open, and the rest is for writes during the start.</summary>
    public const int Length = 1 << 20;

    // Creating the reserve must leave at least this much free.
    private const long SpareBytes = Length;

    /// <summary>Runs a step of the start. If the disk is full, deletes the reserve and runs the step again.</summary>
    /// <exception cref="StorageException">The disk is full, and there is no reserve or it did not help.</exception>
    public T Run<T>(Func<T> step)
    {
        try
        {
            return step();
        }
        catch (StorageException e) when (e.Fault == StorageFault.Full && TryDelete())
        {
            DatabaseLog.ReserveGivenUp(logger, folder.Root);
            return step();
        }
    }

    /// <summary>Creates the reserve file if it is missing, unless the disk is nearly full.</summary>
    public void Keep()
    {
        try
        {
            if (IsWhole() || files.FreeBytes(folder.Root) < SpareBytes + Length)
                return;

            // Random bytes really occupy space: a file system could compress zeros or store them as a hole.
            var bytes = new byte[Length];
            Random.Shared.NextBytes(bytes);
            using var file = new FileStream(folder.Reserve, FileMode.Create, FileAccess.Write, FileShare.None, bufferSize: 0);
            file.Write(bytes);
            file.Flush(flushToDisk: true);
        }
        catch (Exception e) when (StorageException.From(e, folder.Reserve) is not null)
        {
            // Not worth a message: any other write to this disk reports the same fault.
        }
    }

    private bool IsWhole() => new FileInfo(folder.Reserve) is { Exists: true, Length: Length };

    private bool TryDelete()
    {
        try
        {
            if (!File.Exists(folder.Reserve))
                return false;
            File.Delete(folder.Reserve);
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }
}
