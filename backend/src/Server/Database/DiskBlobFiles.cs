namespace Sluice.Server.Database;

/// <summary>The real file system.</summary>
internal sealed class DiskBlobFiles : IBlobFiles
{
    private const int BufferSize = 64 << 10;

    /// <inheritdoc/>
    public Stream Create(string path) => new FileStream(path, FileMode.CreateNew, FileAccess.Write, FileShare.None, BufferSize);

    /// <inheritdoc/>
    public void SyncFile(Stream file) => ((FileStream)file).Flush(flushToDisk: true);

    /// <inheritdoc/>
    public void Rename(string from, string to) => File.Move(from, to, overwrite: true);

    /// <inheritdoc/>
    public void SyncFolder(string path) => PosixCalls.SyncFolder(path);

    /// <inheritdoc/>
    public FileStream OpenRead(string path) => new(path, FileMode.Open, FileAccess.Read, FileShare.Read | FileShare.Delete, BufferSize);

    /// <inheritdoc/>
    public void Delete(string path) => File.Delete(path);

    /// <inheritdoc/>
    public IEnumerable<FileInfo> List(string folder) => new DirectoryInfo(folder).EnumerateFiles();

    /// <inheritdoc/>
    public long FreeBytes(string folder) => new DriveInfo(folder).AvailableFreeSpace;
}
