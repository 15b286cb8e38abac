namespace Sluice.Server.Database;

/// <summary>Locks the data folder against a second instance of Sluice. The system releases the lock if the process dies.</summary>
internal sealed class FolderLock(DataFolder folder) : IDisposable
{
    private const int LinuxWouldBlock = 11;
    private const int MacWouldBlock = 35;
    private const int WindowsSharingViolation = unchecked((int)0x8007_0020);

    private FileStream? _file;

    /// <exception cref="StartRefusedException">Another process holds the lock (CFG-14).</exception>
    /// <exception cref="StorageException">The lock file cannot be opened (CFG-13).</exception>
    public void Take()
    {
        try
        {
            _file = new FileStream(folder.LockFile, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
        }
        catch (IOException e) when (IsHeld(e))
        {
            throw new StartRefusedException(
                StartRefusedException.FolderLocked,
                $"another Sluice is using the configuration folder {folder.Root}",
                e);
        }
        catch (Exception e) when (StorageException.From(e, folder.LockFile) is { } fault)
        {
            throw fault;
        }
    }

    /// <summary>Releases the lock. Keeps the file, because deleting it would race with a process waiting for the lock.</summary>
    public void Dispose() => _file?.Dispose();

    private static bool IsHeld(IOException failure) =>
        failure.HResult == (OperatingSystem.IsWindows() ? WindowsSharingViolation : OperatingSystem.IsMacOS() ? MacWouldBlock : LinuxWouldBlock);
}
