namespace Sluice.Server.Database;

/// <summary>
/// A file of 1 MiB that reserves disk space. If the disk is full at startup, the file is deleted, so that the database opens and stored releases stream (F34).
/// It is created again once space is free.
/// </summary>
internal sealed class DiskReserve(DataFolder folder, IBlobFiles files, ILogger<DiskReserve> logger)
{
    /// <summary>Reserved bytes: SQLite needs 64 KiB to open, and startup needs the rest for its writes.</summary>
    public const int Length = 1 << 20;

    // Bytes that must stay free after the reserve is created.
    private const long SpareBytes = Length;

    /// <summary>Runs a startup step. If the disk is full, deletes the reserve and repeats the step.</summary>
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

            // Random bytes, because a file system could compress zeros or store them as a hole.
            var bytes = new byte[Length];
            Random.Shared.NextBytes(bytes);
            using var file = new FileStream(folder.Reserve, FileMode.Create, FileAccess.Write, FileShare.None, bufferSize: 0);
            file.Write(bytes);
            PosixCalls.SyncFile(file);
        }
        catch (Exception e) when (StorageException.From(e, folder.Reserve) is not null)
        {
            // Do not log this, because the next write to this disk reports the same error.
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
