namespace Sluice.Server.Database;

/// <summary>Files that only the process's user can read. A power cut leaves either the old or the new content.</summary>
internal static class PrivateFile
{
    /// <summary>Suffix of a file whose content may be incomplete.</summary>
    public const string PartialSuffix = ".partial";

    private const int BufferSize = 1 << 20;

    /// <summary>Creates a file. Throws if it exists.</summary>
    public static FileStream Create(string path)
    {
        var options = new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write, BufferSize = BufferSize };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        return new FileStream(path, options);
    }

    /// <summary>Creates or replaces a file. The new content is on disk on return.</summary>
    public static void Replace(string path, ReadOnlySpan<byte> content)
    {
        var partial = path + PartialSuffix;
        File.Delete(partial);
        using (var file = Create(partial))
        {
            file.Write(content);
            PosixCalls.SyncFile(file);
        }

        File.Move(partial, path, overwrite: true);
        PosixCalls.SyncFolder(Path.GetDirectoryName(path)!);
    }

    /// <summary>Copies a stream to a new file. The content is on disk on return, but the name may not be.</summary>
    public static void Copy(Stream from, string to, CancellationToken cancellationToken)
    {
        using var file = Create(to);
        var piece = new byte[BufferSize];
        while (from.Read(piece) is var read and > 0)
        {
            cancellationToken.ThrowIfCancellationRequested();
            file.Write(piece.AsSpan(0, read));
        }

        PosixCalls.SyncFile(file);
    }

    /// <summary>Makes a file that another component wrote private, and flushes it to disk.</summary>
    public static void Sync(string path)
    {
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        using var file = new FileStream(path, FileMode.Open, FileAccess.ReadWrite);
        PosixCalls.SyncFile(file);
    }

    /// <summary>Creates a folder that only the process's user can enter. Does nothing if it exists.</summary>
    public static void CreateFolder(string path)
    {
        if (OperatingSystem.IsWindows())
            Directory.CreateDirectory(path);
        else
            Directory.CreateDirectory(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
    }
}
