namespace Sluice.Server.Database;

/// <summary>
/// A file of 1 MiB beside the database that only reserves space. A start that finds the disk full deletes it, so that the database
/// can be opened and stored releases are served (F34). The file is made again when there is room.
/// </summary>
internal sealed class DiskReserve(DataFolder folder, IBlobFiles files, ILogger<DiskReserve> logger)
{
    /// <summary>Bytes reserved: SQLite needs 64 KiB to open, and the rest is for the writes of a start.</summary>
    public const int Length = 1 << 20;

    // The reserve leaves as much as it takes.
    private const long SpareBytes = Length;

    /// <summary>Runs a step of the start; when the disk is full for it, gives up the reserve and runs it again.</summary>
    /// <exception cref="StorageException">The disk is full and there is no reserve, or it did not help.</exception>
    public T Run<T>(Func<T> step)
    {
        try
        {
            return step();
        }
        catch (StorageException e) when (e.Fault == StorageFault.Full && GiveUp())
        {
            DatabaseLog.ReserveGivenUp(logger, folder.Root);
            return step();
        }
    }

    /// <summary>Makes the reserve where it is missing and there is room. A disk that is nearly full has to do without.</summary>
    public void Keep()
    {
        try
        {
            if (IsWhole() || files.FreeBytes(folder.Root) < SpareBytes + Length)
                return;

            // Written and not only claimed, in bytes that no file system can store as a hole or pack.
            var bytes = new byte[Length];
            Random.Shared.NextBytes(bytes);
            using var file = new FileStream(folder.Reserve, FileMode.Create, FileAccess.Write, FileShare.None, bufferSize: 0);
            file.Write(bytes);
            file.Flush(flushToDisk: true);
        }
        catch (Exception e) when (StorageException.From(e, folder.Reserve) is not null)
        {
            // Whatever keeps it from being made keeps the next start from using it, and is met by every other write as well.
        }
    }

    private bool IsWhole() => new FileInfo(folder.Reserve) is { Exists: true, Length: Length };

    private bool GiveUp()
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
