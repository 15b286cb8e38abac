namespace Sluice.Server.Database;

/// <summary>Keeps a second Sluice out of the data folder. The lock is the system's and dies with the process.</summary>
internal sealed class FolderLock(DataFolder folder) : IDisposable
{
    private FileStream? _file;

    /// <summary>Takes the lock or refuses at once.</summary>
    /// <exception cref="StartRefusedException">Another process holds it (CFG-14), or the file cannot be opened (CFG-13).</exception>
    public void Take()
    {
        try
        {
            _file = new FileStream(folder.LockFile, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
        }
        catch (UnauthorizedAccessException e)
        {
            throw new StartRefusedException(
                StartRefusedException.BadConfiguration,
                $"{folder.LockFile} is not writable by uid {PosixCalls.EffectiveUser()}{PosixCalls.DescribeOwner(folder.LockFile)}",
                e);
        }
        catch (IOException e)
        {
            throw new StartRefusedException(
                StartRefusedException.FolderLocked,
                $"another Sluice is using the configuration folder {folder.Root}",
                e);
        }
    }

    /// <summary>Lets the next process in. The file stays: removing it would race with whoever waits for it.</summary>
    public void Dispose() => _file?.Dispose();
}
