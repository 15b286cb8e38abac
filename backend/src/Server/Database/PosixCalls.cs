using System.Globalization;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Sluice.Server.Database;

/// <summary>System calls that .NET does not expose.</summary>
internal static partial class PosixCalls
{
    private const int ReadOnlyDirectory = 0x80000; // O_RDONLY | O_CLOEXEC
    private const int CurrentFolder = -100; // AT_FDCWD
    private const int Interrupted = 4; // EINTR

    /// <summary>Makes renames and new names in a folder durable (fsync of the directory).</summary>
    public static void SyncFolder(string path)
    {
        // Unnecessary on Windows, because NTFS journals metadata. Its folders cannot be opened for fsync anyway.
        if (OperatingSystem.IsWindows())
            return;

        Sync(path, "fsync", Fsync);
    }

    /// <summary>
    /// Flushes a file's content to disk (fsync). <c>FileStream.Flush(true)</c> is banned (BannedSymbols.txt), because .NET 10 ignores the result of fsync on
    /// Linux.
    /// </summary>
    /// <exception cref="IOException">Some content could not be written.</exception>
    public static void SyncFile(FileStream file)
    {
        file.Flush();
        // On macOS, only this call also flushes the cache of the drive.
        if (!OperatingSystem.IsLinux())
            RandomAccess.FlushToDisk(file.SafeFileHandle);
        if (OperatingSystem.IsWindows())
            return;
        while (FsyncFile(file.SafeFileHandle) != 0)
        {
            if (Marshal.GetLastPInvokeError() != Interrupted)
                throw Failure("fsync", file.Name);
        }
    }

    /// <summary>Whether <see cref="SyncVolume"/> exists and reports errors, which it does not before Linux 5.8.</summary>
    public static bool CanSyncVolumes => OperatingSystem.IsLinux() && Environment.OSVersion.Version >= new Version(5, 8);

    /// <summary>Flushes all content of a folder's volume to disk (syncfs).</summary>
    /// <exception cref="IOException">Some content could not be written.</exception>
    public static void SyncVolume(string folder) => Sync(folder, "syncfs", SyncFileSystem);

    public static string EffectiveUser() =>
        OperatingSystem.IsWindows() ? Environment.UserName : GetEffectiveUser().ToString(CultureInfo.InvariantCulture);

    /// <summary>Makes every new file of this process private (umask 077), even those of native libraries.</summary>
    public static void MakeFilesPrivate()
    {
        if (!OperatingSystem.IsWindows())
            _ = Umask(Convert.ToUInt32("77", 8));
    }

    /// <summary>Checks access without opening the path: permissions of the effective user, read-only mounts, and traversal of a folder.</summary>
    /// <returns>The error number, or 0 if access is granted or cannot be checked.</returns>
    public static int FindObstacle(string path, bool write)
    {
        if (OperatingSystem.IsWindows())
            return 0;

        var wanted = 4 | (write ? 2 : 0) | (Directory.Exists(path) ? 1 : 0); // R_OK, W_OK, X_OK
        var effective = OperatingSystem.IsMacOS() ? 0x10 : 0x200; // AT_EACCESS
        var folder = OperatingSystem.IsMacOS() ? -2 : CurrentFolder;
        return FileAccess(folder, path, wanted, effective) == 0 ? 0 : Marshal.GetLastPInvokeError();
    }

    /// <summary>Whether a path is a regular file and not a link, folder, device or pipe. Opening a pipe could block forever.</summary>
    public static bool IsPlainFile(string path)
    {
        if (!OperatingSystem.IsLinux())
            return File.Exists(path) && (File.GetAttributes(path) & (FileAttributes.ReparsePoint | FileAttributes.Device)) == 0;

        const int noFollow = 0x100; // AT_SYMLINK_NOFOLLOW
        const int kind = 0xF000; // S_IFMT
        return Statx(CurrentFolder, path, noFollow, 0x1, out var found) == 0 && (found.Mode & kind) == 0x8000; // STATX_TYPE, S_IFREG
    }

    /// <summary>Whether another process holds an fcntl lock on a file, even in another container. False if that cannot be seen, and on other systems.</summary>
    public static bool IsLockedByOther(string path)
    {
        if (!OperatingSystem.IsLinux() || !File.Exists(path))
            return false;
        // Every supported Linux is 64-bit, so the record has 64-bit offsets.
        const int getLock = 5; // F_GETLK
        const short writeLock = 1; // F_WRLCK
        const short noLock = 2; // F_UNLCK
        using var file = File.OpenHandle(path, FileMode.Open, System.IO.FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
        // Length 0 covers the whole file. A write lock conflicts with every other lock.
        var record = new FileRecord { Kind = writeLock };
        return FileControl(file, getLock, ref record) == 0 && record.Kind != noLock;
    }

    /// <summary>
    /// Permanently gives the calling thread the lowest priority. Linux counts niceness per thread, and only an administrator may raise the priority again. Does
    /// nothing on other systems.
    /// </summary>
    public static void LowerPriority()
    {
        const int ofProcess = 0; // PRIO_PROCESS; an id of 0 is the calling thread
        const int lowest = 19;
        if (OperatingSystem.IsLinux())
            _ = SetPriority(ofProcess, 0, lowest);
    }

    /// <summary>Resolves links, <c>.</c> and <c>..</c>; null if the path does not exist.</summary>
    public static string? RealPath(string path)
    {
        if (OperatingSystem.IsWindows())
            return Path.Exists(path) ? new FileInfo(path).ResolveLinkTarget(returnFinalTarget: true)?.FullName ?? Path.GetFullPath(path) : null;

        var resolved = ResolvePath(path, 0);
        try
        {
            return Marshal.PtrToStringUTF8(resolved);
        }
        finally
        {
            Free(resolved);
        }
    }

    /// <summary>Owner and mode of a path as <c> (owner 0:0, mode 755)</c>; empty if unknown.</summary>
    public static string DescribeOwner(string path)
    {
        if (!OperatingSystem.IsLinux())
            return "";

        const uint modeAndOwner = 0x2 | 0x8 | 0x10; // STATX_MODE, STATX_UID, STATX_GID
        try
        {
            // If the path does not exist, describe its parent folder.
            if (Statx(CurrentFolder, path, 0, modeAndOwner, out var found) != 0
                && (Path.GetDirectoryName(path) is not { } parent || Statx(CurrentFolder, parent, 0, modeAndOwner, out found) != 0))
                return "";
            return $" (owner {found.User}:{found.Group}, mode {Convert.ToString(found.Mode & 0xFFF, 8)})";
        }
        catch (EntryPointNotFoundException)
        {
            return "";
        }
    }

    /// <summary>Advice about a path that another user owns, appended to a sentence; empty if this user owns the path.</summary>
    /// <param name="startedAsRoot">Whether the process has switched to this user.</param>
    public static string AdviseOnOwner(string folder, string path, bool startedAsRoot) =>
        OperatingSystem.IsLinux() ? AdviseOnOwner(folder, path, GetEffectiveUser(), GetEffectiveGroup(), startedAsRoot) : "";

    /// <summary>
    /// Advises how <paramref name="user"/>, the user that Sluice runs as or switches to (<see cref="BecomeUser"/>), gains access to a path. The text starts
    /// with a semicolon, because it continues a sentence. Empty if that user owns the path.
    /// </summary>
    public static string AdviseOnOwner(string folder, string path, uint user, uint group, bool startedAsRoot)
    {
        if (OwnerOf(path) is not var (owner, ownerGroup) || owner == user)
            return "";
        var asOwner = string.Create(CultureInfo.InvariantCulture, $"start Sluice as its owner (in a container: PUID={owner} PGID={ownerGroup}, without user:)");
        if (user is 0)
            return $"; {asOwner}";
        var own = string.Create(CultureInfo.InvariantCulture, $"; make it this user's (chown -R {user}:{group} {folder})");
        // Startup as root changes the owner of the folder itself, but not of its contents.
        if (path == folder && MayWrite(new DataFolder(folder).Database, user, group))
        {
            return own + (startedAsRoot
                ? ", or leave the container the capability CHOWN"
                : string.Create(CultureInfo.InvariantCulture, $", or start the container with PUID={user} PGID={group}, without user:"));
        }

        // Never advise running the server as root.
        return owner is 0 ? own : $"{own}, or {asOwner}";
    }

    /// <summary>Owner and group of a path; null if the path does not exist or access is denied.</summary>
    public static (uint User, uint Group)? OwnerOf(string path)
    {
        const uint owner = 0x8 | 0x10; // STATX_UID, STATX_GID
        return OperatingSystem.IsLinux() && Statx(CurrentFolder, path, 0, owner, out var found) == 0 ? (found.User, found.Group) : null;
    }

    /// <summary>The device that holds a path; null if the path does not exist, or on other systems.</summary>
    public static (uint Major, uint Minor)? DeviceOf(string path) =>
        OperatingSystem.IsLinux() && Statx(CurrentFolder, path, 0, 0, out var found) == 0 ? (found.Major, found.Minor) : null;

    /// <summary>Whether the path's mode lets a non-root user read and write it; true if it does not exist or access is denied.</summary>
    public static bool MayWrite(string path, uint user, uint group)
    {
        const uint modeAndOwner = 0x2 | 0x8 | 0x10; // STATX_MODE, STATX_UID, STATX_GID
        if (!OperatingSystem.IsLinux() || Statx(CurrentFolder, path, 0, modeAndOwner, out var found) != 0)
            return true;
        var shift = found.User == user ? 6 : found.Group == group ? 3 : 0;
        return ((found.Mode >> shift) & 6) == 6;
    }

    /// <summary>Changes the owner and group of one path. Ignores errors, because a network share may refuse and later writes report that.</summary>
    public static void GiveTo(string path, uint user, uint group) => _ = ChangeOwner(path, user, group);

    /// <summary>Switches all threads permanently to another user with exactly one group. Returns the error number, or 0.</summary>
    public static int BecomeUser(uint user, uint group)
    {
        // Set the user last, because the new user is not allowed to change groups.
        var done = SetGroups(0, 0) == 0 && SetGroup(group) == 0 && SetUser(user) == 0;
        return done ? 0 : Marshal.GetLastPInvokeError();
    }

    private static void Sync(string folder, string name, Func<int, int> call)
    {
        var descriptor = Open(folder, ReadOnlyDirectory);
        if (descriptor < 0)
            throw Failure("open", folder);

        try
        {
            if (call(descriptor) != 0)
                throw Failure(name, folder);
        }
        finally
        {
            _ = Close(descriptor);
        }
    }

    private static IOException Failure(string call, string path)
    {
        var error = Marshal.GetLastPInvokeError();
        return new IOException($"{call} of {path} failed: {Marshal.GetPInvokeErrorMessage(error)}", error);
    }

    [LibraryImport("libc", EntryPoint = "realpath", StringMarshalling = StringMarshalling.Utf8)]
    private static partial nint ResolvePath(string path, nint buffer);

    [LibraryImport("libc", EntryPoint = "free")]
    private static partial void Free(nint memory);

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Open(string path, int flags);

    [LibraryImport("libc", EntryPoint = "fsync", SetLastError = true)]
    private static partial int Fsync(int descriptor);

    [LibraryImport("libc", EntryPoint = "fsync", SetLastError = true)]
    private static partial int FsyncFile(SafeFileHandle file);

    [LibraryImport("libc", EntryPoint = "syncfs", SetLastError = true)]
    private static partial int SyncFileSystem(int descriptor);

    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    private static partial int Close(int descriptor);

    [LibraryImport("libc", EntryPoint = "umask")]
    private static partial uint Umask(uint mask);

    [LibraryImport("libc", EntryPoint = "faccessat", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int FileAccess(int folder, string path, int mode, int flags);

    [LibraryImport("libc", EntryPoint = "geteuid")]
    private static partial uint GetEffectiveUser();

    [LibraryImport("libc", EntryPoint = "getegid")]
    private static partial uint GetEffectiveGroup();

    [LibraryImport("libc", EntryPoint = "chown", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int ChangeOwner(string path, uint user, uint group);

    [LibraryImport("libc", EntryPoint = "setgroups", SetLastError = true)]
    private static partial int SetGroups(nuint count, nint groups);

    [LibraryImport("libc", EntryPoint = "setgid", SetLastError = true)]
    private static partial int SetGroup(uint group);

    [LibraryImport("libc", EntryPoint = "setuid", SetLastError = true)]
    private static partial int SetUser(uint user);

    [LibraryImport("libc", EntryPoint = "setpriority", SetLastError = true)]
    private static partial int SetPriority(int which, uint id, int niceness);

    [LibraryImport("libc", EntryPoint = "statx", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Statx(int folder, string path, int flags, uint mask, out FileStatus status);

    [LibraryImport("libc", EntryPoint = "fcntl", SetLastError = true)]
    private static partial int FileControl(SafeFileHandle file, int command, ref FileRecord record);

    /// <summary>The <c>struct flock</c> of 64-bit Linux.</summary>
    [StructLayout(LayoutKind.Explicit, Size = 32)]
    private struct FileRecord
    {
        [FieldOffset(0)] public short Kind;
    }

    /// <summary>The start of <c>struct statx</c>, whose layout is the same on every architecture.</summary>
    [StructLayout(LayoutKind.Explicit, Size = 256)]
    private struct FileStatus
    {
        [FieldOffset(20)] public uint User;
        [FieldOffset(24)] public uint Group;
        [FieldOffset(28)] public ushort Mode;
        [FieldOffset(136)] public uint Major;
        [FieldOffset(140)] public uint Minor;
    }
}
