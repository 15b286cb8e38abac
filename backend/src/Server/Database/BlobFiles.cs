namespace Sluice.Server.Database;

/// <summary>
/// What <see cref="BlobStore"/> does to the file system, one member per step whose order matters for durability (IMP-2).
/// </summary>
internal interface IBlobFiles
{
    /// <summary>Creates a new file for writing.</summary>
    Stream Create(string path);

    /// <summary>Returns once the content of a stream from <see cref="Create"/> is on disk (fsync of the file).</summary>
    void SyncFile(Stream file);

    /// <summary>Gives a file its name, in place of one that may be there.</summary>
    void Rename(string from, string to);

    /// <summary>Returns once names in the folder are on disk (fsync of the directory).</summary>
    void SyncFolder(string path);

    /// <summary>Opens a file for reading.</summary>
    /// <exception cref="FileNotFoundException">There is none.</exception>
    FileStream OpenRead(string path);

    /// <summary>Removes a file; nothing happens where there is none.</summary>
    void Delete(string path);

    /// <summary>The files of a folder; each property beside the name costs a system call.</summary>
    IEnumerable<FileInfo> List(string folder);

    /// <summary>Bytes that this process may still write to the volume of a folder.</summary>
    long FreeBytes(string folder);
}

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
