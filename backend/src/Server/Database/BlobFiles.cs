namespace Sluice.Server.Database;

/// <summary>File system calls of <see cref="BlobStore"/>. Each step is a separate member, because durability depends on their order (IMP-2).</summary>
internal interface IBlobFiles
{
    Stream Create(string path);

    /// <summary>Flushes the content of a stream from <see cref="Create"/> to disk (fsync of the file).</summary>
    void SyncFile(Stream file);

    /// <summary>Flushes the content of closed files to disk.</summary>
    /// <param name="folder">A folder on the volume of the files.</param>
    /// <param name="files">Their paths.</param>
    void SyncFiles(string folder, IReadOnlyCollection<string> files);

    void Rename(string from, string to);

    /// <summary>Flushes a folder's entries to disk (fsync of the directory).</summary>
    void SyncFolder(string path);

    FileStream OpenRead(string path);

    /// <summary>Deletes a file; does nothing if it does not exist.</summary>
    void Delete(string path);

    /// <summary>Lists the files of a folder. Each property other than the name costs a system call.</summary>
    IEnumerable<FileInfo> List(string folder);

    /// <summary>Returns how many free bytes of the volume this process may use.</summary>
    long FreeBytes(string folder);
}

/// <param name="syncsVolumes">Whether <see cref="PosixCalls.SyncVolume"/> may be used, which must report errors.</param>
internal sealed class DiskBlobFiles(bool syncsVolumes) : IBlobFiles
{
    private const int BufferSize = 64 << 10;

    public DiskBlobFiles() : this(PosixCalls.CanSyncVolumes)
    {
    }

    public Stream Create(string path) => new FileStream(path, FileMode.CreateNew, FileAccess.Write, FileShare.None, BufferSize);

    public void SyncFile(Stream file) => PosixCalls.SyncFile((FileStream)file);

    // One call for the volume, because flushing each file on its own takes six to ten times as long as copying it.
    public void SyncFiles(string folder, IReadOnlyCollection<string> files)
    {
        if (syncsVolumes)
        {
            PosixCalls.SyncVolume(folder);
            return;
        }

        foreach (var path in files)
        {
            using var file = new FileStream(path, FileMode.Open, FileAccess.Write, FileShare.None, bufferSize: 0);
            PosixCalls.SyncFile(file);
        }
    }

    public void Rename(string from, string to) => File.Move(from, to, overwrite: true);

    public void SyncFolder(string path) => PosixCalls.SyncFolder(path);

    public FileStream OpenRead(string path) => new(path, FileMode.Open, FileAccess.Read, FileShare.Read | FileShare.Delete, BufferSize);

    public void Delete(string path) => File.Delete(path);

    public IEnumerable<FileInfo> List(string folder) => new DirectoryInfo(folder).EnumerateFiles();

    public long FreeBytes(string folder) => new DriveInfo(folder).AvailableFreeSpace;
}

internal static class BlobFileCopies
{
    /// <summary>Copies a stream to a new file. The content is on disk on return, but the name may not be.</summary>
    /// <param name="piece">The buffer, which many copies share.</param>
    public static void Copy(this IBlobFiles files, Stream from, string to, byte[] piece, CancellationToken cancellationToken)
    {
        using var file = files.Create(to);
        file.Fill(from, piece, cancellationToken);
        files.SyncFile(file);
    }

    /// <summary>Copies a stream to a new file whose content <see cref="IBlobFiles.SyncFiles"/> has to flush.</summary>
    /// <inheritdoc cref="Copy" path="/param"/>
    public static void CopyUnsynced(this IBlobFiles files, Stream from, string to, byte[] piece, CancellationToken cancellationToken)
    {
        using var file = files.Create(to);
        file.Fill(from, piece, cancellationToken);
    }

    private static void Fill(this Stream file, Stream from, byte[] piece, CancellationToken cancellationToken)
    {
        while (from.Read(piece) is var read and > 0)
        {
            cancellationToken.ThrowIfCancellationRequested();
            file.Write(piece.AsSpan(0, read));
        }

        file.Flush();
    }
}
