using System.Runtime.Versioning;

namespace Sluice.Server.Database;

/// <summary>The folder that holds all data of Sluice (<c>CONFIG_PATH</c>), and the paths in it.</summary>
internal sealed record DataFolder(string Root)
{
    private const UnixFileMode PrivateFolder = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;
    private const UnixFileMode PrivateFile = UnixFileMode.UserRead | UnixFileMode.UserWrite;
    private const UnixFileMode Others = (UnixFileMode)0b111_111;

    /// <summary>Whether the process started as root and then switched users, which changes the advice about files owned by another user.</summary>
    public bool StartedAsRoot { get; init; }

    public string Database => Path.Combine(Root, "sluice.db");

    /// <summary>Reserved space that is freed at startup on a full disk (<see cref="DiskReserve"/>).</summary>
    public string Reserve => Path.Combine(Root, "sluice.reserve");

    public string Blobs => Path.Combine(Root, "blobs");

    /// <summary>Staged uploads before their rename. Created on first use.</summary>
    public string Staged => Path.Combine(Root, "staged");

    /// <summary>The segment cache. Created on first use and always safe to delete.</summary>
    public string Segments => Path.Combine(Root, "cache", "segments");

    /// <summary>Pictures of films. Created on first use and always safe to delete.</summary>
    public string Pictures => Path.Combine(Root, "cache", "pictures");

    /// <summary>The file that identifies the database to which the blobs belong (<see cref="BlobGeneration"/>).</summary>
    public string Generation => Path.Combine(Root, "blobs.generation");

    /// <summary>Unreferenced blobs that await deletion (<see cref="BlobQuarantine"/>). Created on first use.</summary>
    public string Quarantine => Path.Combine(Root, "quarantine");

    public string Backups => Path.Combine(Root, "backups");

    /// <summary>Databases that a restore has replaced, in folders named by the time of the restore. Created on first use.</summary>
    public string Replaced => Path.Combine(Root, "replaced");

    /// <summary>A backup unpacked from a single file for a restore. The folder exists only until the restore.</summary>
    public string Unpacked => Path.Combine(Root, "unpacked");

    /// <summary>The restore to perform at the next startup. The file is then deleted.</summary>
    public string RestoreWish => Path.Combine(Root, "restore.json");

    /// <summary>Names and categories of accepted NZBs, one NZB per line. Created on first use.</summary>
    public string Accepted => Path.Combine(Root, "accepted.jsonl");

    /// <summary>Key files, which backups must not contain.</summary>
    public string Keys => Path.Combine(Root, "keys");

    /// <summary>Temporary copy of another program's database during an import.</summary>
    public string Import => Path.Combine(Root, "import");

    public string LockFile => Path.Combine(Root, "sluice.lock");

    private IEnumerable<string> Folders => [Blobs, Backups, Keys];

    private IEnumerable<string> LaterFolders => [Staged, Quarantine, Replaced, Path.Combine(Root, "cache")];

    private IEnumerable<string> Files => [Database, Database + "-wal", Database + "-shm", Database + "-journal", LockFile, Generation, RestoreWish, Accepted];

    private string SecretKey => Path.Combine(Keys, "secret.key");

    /// <summary>Creates missing folders and checks every path. Makes all files private, including those created later by this process.</summary>
    /// <returns>Whether the file system supports modes; if not, other users may be able to read the files.</returns>
    /// <exception cref="StartRefusedException">The folder cannot be created or written (CFG-13).</exception>
    /// <exception cref="StorageException">A file or folder inside it is unusable.</exception>
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
            // Start even if the disk is full, because stored releases still stream (F34).
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new StartRefusedException(
                StartRefusedException.BadConfiguration,
                $"configuration folder {Root} is not writable by uid {PosixCalls.EffectiveUser()}{PosixCalls.DescribeOwner(Root)}{PosixCalls.AdviseOnOwner(Root, Root, StartedAsRoot)}",
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

    /// <summary>Checks access without opening the file, because closing it would release the locks that SQLite holds on it.</summary>
    private static void Try(string path, bool isOfOtherKind, string otherKind, bool write)
    {
        if (isOfOtherKind)
            throw StorageException.Unusable(path, otherKind);
        if (Path.Exists(path) && PosixCalls.FindObstacle(path, write) is var errno and not 0)
            throw StorageException.Of(errno, path);
    }

    /// <summary>Makes older files private. Each folder is changed after its files, so that an interrupted run repeats the folder.</summary>
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
                // Subfolders in the blobs folder belong to another program.
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
            // The file system has no modes, or another user owns a file in this shared folder.
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
