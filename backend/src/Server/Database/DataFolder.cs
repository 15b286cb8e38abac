using System.Runtime.Versioning;

namespace Sluice.Server.Database;

/// <summary>The one folder that holds everything Sluice keeps (<c>CONFIG_PATH</c>), and the places in it.</summary>
/// <param name="Root">Absolute path.</param>
internal sealed record DataFolder(string Root)
{
    private const UnixFileMode PrivateFolder = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;
    private const UnixFileMode PrivateFile = UnixFileMode.UserRead | UnixFileMode.UserWrite;
    private const UnixFileMode Others = (UnixFileMode)0b111_111;

    /// <summary>The database.</summary>
    public string Database => Path.Combine(Root, "sluice.db");

    /// <summary>Room that a start on a full disk gives up.</summary>
    public string Reserve => Path.Combine(Root, "sluice.reserve");

    /// <summary>Stored NZBs and message-id lists.</summary>
    public string Blobs => Path.Combine(Root, "blobs");

    /// <summary>Uploads that wait for their name. Made when the first one comes.</summary>
    public string Staged => Path.Combine(Root, "staged");

    /// <summary>The segment cache. Made when the first block is stored; always safe to delete.</summary>
    public string Segments => Path.Combine(Root, "cache", "segments");

    /// <summary>Which database the blobs belong to (<see cref="BlobGeneration"/>).</summary>
    public string Generation => Path.Combine(Root, "blobs.generation");

    /// <summary>Blobs that nothing refers to any more (<see cref="BlobQuarantine"/>). Made when the first one comes.</summary>
    public string Quarantine => Path.Combine(Root, "quarantine");

    /// <summary>Copies of the database.</summary>
    public string Backups => Path.Combine(Root, "backups");

    /// <summary>Key files, never part of a backup.</summary>
    public string Keys => Path.Combine(Root, "keys");

    /// <summary>A copy of the database of another program, as long as that is read.</summary>
    public string Import => Path.Combine(Root, "import");

    /// <summary>Held by the running process.</summary>
    public string LockFile => Path.Combine(Root, "sluice.lock");

    private IEnumerable<string> Folders => [Blobs, Backups, Keys];

    private IEnumerable<string> LaterFolders => [Staged, Quarantine, Path.Combine(Root, "cache")];

    private IEnumerable<string> Files => [Database, Database + "-wal", Database + "-shm", Database + "-journal", LockFile, Generation];

    private string SecretKey => Path.Combine(Keys, "secret.key");

    /// <summary>
    /// Creates missing folders, tries each file and folder that will be written, and takes the rights of other users from existing
    /// ones. Files that the process creates from here on are private as well.
    /// </summary>
    /// <returns>Whether the file system keeps modes; where it does not, other users may read the files.</returns>
    /// <exception cref="StartRefusedException">The folder cannot be created or written (CFG-13).</exception>
    /// <exception cref="StorageException">A file or folder in it cannot.</exception>
    public bool Prepare()
    {
        PosixCalls.MakeFilesPrivate();
        CreateRoot();
        foreach (var folder in Folders.Concat(LaterFolders))
            Try(folder, File.Exists(folder), "it is no folder", write: true);
        foreach (var folder in Folders)
            Create(folder);
        foreach (var file in Files)
            Try(file, Directory.Exists(file), "it is a folder", write: true);
        Try(SecretKey, Directory.Exists(SecretKey), "it is a folder", write: false);
        return TightenModes();
    }

    private void CreateRoot()
    {
        try
        {
            Directory.CreateDirectory(Root);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new StartRefusedException(
                StartRefusedException.BadConfiguration,
                $"configuration folder {Root} does not exist and cannot be created by uid {PosixCalls.EffectiveUser()}",
                e);
        }

        try
        {
            var probe = Path.Combine(Root, $".write-test-{Guid.NewGuid():N}");
            using var file = new FileStream(probe, FileMode.CreateNew, FileAccess.Write, FileShare.None, bufferSize: 0, FileOptions.DeleteOnClose);
            file.WriteByte(1);
        }
        catch (Exception e) when (StorageException.From(e, Root) is { Fault: StorageFault.Full })
        {
            // A full disk does not prevent a start: stored releases can still be streamed (F34).
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new StartRefusedException(
                StartRefusedException.BadConfiguration,
                $"configuration folder {Root} is not writable by uid {PosixCalls.EffectiveUser()}{PosixCalls.DescribeOwner(Root)}{PosixCalls.AdviseOnOwner(Root, Root)}",
                e);
        }
    }

    private static void Create(string folder)
    {
        try
        {
            Directory.CreateDirectory(folder);
        }
        catch (Exception e) when (StorageException.From(e, folder) is { } fault)
        {
            throw fault;
        }
    }

    /// <summary>Asks the system, which opens nothing: a file of SQLite that is closed again loses the locks on it.</summary>
    private static void Try(string path, bool isOfOtherKind, string otherKind, bool write)
    {
        if (isOfOtherKind)
            throw StorageException.Unusable(path, otherKind);
        if (Path.Exists(path) && PosixCalls.FindObstacle(path, write) is var errno and not 0)
            throw StorageException.Of(errno, path);
    }

    /// <summary>
    /// Takes the rights of other users from files of an earlier version. A folder comes after its files: as long as it is open, the next
    /// start goes through them again.
    /// </summary>
    private bool TightenModes()
    {
        if (OperatingSystem.IsWindows())
            return true;

        try
        {
            foreach (var file in Files.Append(SecretKey).Append(Reserve).Where(File.Exists))
                Tighten(file, PrivateFile);
            var folders = Folders.Concat(LaterFolders).Where(Directory.Exists).ToList();
            foreach (var folder in folders)
            {
                if (IsPrivate(folder))
                    continue;
                // Folders inside the blobs are those of another program that has kept its own there, and stay as they are.
                var depth = folder == Blobs ? SearchOption.TopDirectoryOnly : SearchOption.AllDirectories;
                foreach (var file in Directory.EnumerateFiles(folder, "*", depth))
                    Tighten(file, PrivateFile);
                foreach (var inner in Directory.EnumerateDirectories(folder, "*", depth).Where(_ => folder != Blobs))
                    Tighten(inner, PrivateFolder);
                Tighten(folder, PrivateFolder);
            }

            return folders.TrueForAll(IsPrivate);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // A file system without modes, or a file of another user in a folder that both may write.
            return false;
        }
    }

    [UnsupportedOSPlatform("windows")]
    private static bool IsPrivate(string path) => (File.GetUnixFileMode(path) & Others) == 0;

    [UnsupportedOSPlatform("windows")]
    private static void Tighten(string path, UnixFileMode mode)
    {
        if (!IsPrivate(path))
            File.SetUnixFileMode(path, mode);
    }
}
