using System.Globalization;
using System.Runtime.InteropServices;

namespace Sluice.Server.Database;

/// <summary>The few calls of the system that .NET does not offer.</summary>
internal static partial class PosixCalls
{
    private const int ReadOnlyDirectory = 0x80000; // O_RDONLY | O_CLOEXEC
    private const int CurrentFolder = -100; // AT_FDCWD

    /// <summary>Makes a rename or a new name in a folder durable (fsync of the directory).</summary>
    /// <exception cref="IOException">The system refused.</exception>
    public static void SyncFolder(string path)
    {
        // On Windows metadata of NTFS is journalled and a folder cannot be opened for this.
        if (OperatingSystem.IsWindows())
            return;

        var descriptor = Open(path, ReadOnlyDirectory);
        if (descriptor < 0)
            throw Failure("open", path);

        try
        {
            if (Fsync(descriptor) != 0)
                throw Failure("fsync", path);
        }
        finally
        {
            _ = Close(descriptor);
        }
    }

    /// <summary>The user that the process acts as, for messages.</summary>
    public static string EffectiveUser() =>
        OperatingSystem.IsWindows() ? Environment.UserName : GetEffectiveUser().ToString(CultureInfo.InvariantCulture);

    /// <summary>Lets only its own user read what this process makes from now on (umask 077), whichever library makes it.</summary>
    public static void MakeFilesPrivate()
    {
        if (!OperatingSystem.IsWindows())
            _ = Umask(Convert.ToUInt32("77", 8));
    }

    /// <summary>Whether the process may use a path, by its effective user and the state of the mount. Opens nothing.</summary>
    /// <param name="path">A file, or a folder, of which the right to enter it is asked as well.</param>
    /// <param name="write">Whether for writing too.</param>
    /// <returns>The system's error number, 0 where nothing stands in the way or cannot be asked.</returns>
    public static int FindObstacle(string path, bool write)
    {
        if (OperatingSystem.IsWindows())
            return 0;

        var wanted = 4 | (write ? 2 : 0) | (Directory.Exists(path) ? 1 : 0); // R_OK, W_OK, X_OK
        var effective = OperatingSystem.IsMacOS() ? 0x10 : 0x200; // AT_EACCESS
        var folder = OperatingSystem.IsMacOS() ? -2 : CurrentFolder;
        return FileAccess(folder, path, wanted, effective) == 0 ? 0 : Marshal.GetLastPInvokeError();
    }

    /// <summary>Whether a path names a file with bytes of its own: no link, folder, device or pipe, opening which may wait for ever.</summary>
    public static bool IsPlainFile(string path)
    {
        if (!OperatingSystem.IsLinux())
            return File.Exists(path) && (File.GetAttributes(path) & (FileAttributes.ReparsePoint | FileAttributes.Device)) == 0;

        const int noFollow = 0x100; // AT_SYMLINK_NOFOLLOW
        const int kind = 0xF000; // S_IFMT
        return Statx(CurrentFolder, path, noFollow, 0x1, out var found) == 0 && (found.Mode & kind) == 0x8000; // STATX_TYPE, S_IFREG
    }

    /// <summary>The path without links, <c>.</c> and <c>..</c>; null where there is nothing.</summary>
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

    /// <summary>Owner and mode of a path as <c> (owner 0:0, mode 755)</c>, or nothing where the system does not tell.</summary>
    public static string DescribeOwner(string path)
    {
        if (!OperatingSystem.IsLinux())
            return "";

        const uint modeAndOwner = 0x2 | 0x8 | 0x10; // STATX_MODE, STATX_UID, STATX_GID
        try
        {
            // For a path that does not exist yet: the folder in which it would be created.
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

    /// <summary>What lets the process use a folder that has another owner, to be added to a sentence; nothing where the owner is its own.</summary>
    /// <param name="folder">The folder that all is kept in.</param>
    /// <param name="path">The folder, or what in it is of another owner.</param>
    public static string AdviseOnOwner(string folder, string path)
    {
        const uint owner = 0x8 | 0x10; // STATX_UID, STATX_GID
        if (!OperatingSystem.IsLinux() || GetEffectiveUser() is 0 || Statx(CurrentFolder, path, 0, owner, out var found) != 0 || found.User == GetEffectiveUser())
            return "";
        var own = string.Create(CultureInfo.InvariantCulture, $"{GetEffectiveUser()}:{GetEffectiveGroup()}");
        // Root is no user to run a server as.
        var other = found.User is 0 ? "" : string.Create(CultureInfo.InvariantCulture, $", or start Sluice as its owner (PUID={found.User} PGID={found.Group} for a container)");
        return $"; make it this user's (chown -R {own} {folder}){other}";
    }

    /// <summary>Gives a file or folder, and nothing in it, to a user and a group. A share may refuse, which shows when it is written.</summary>
    public static void GiveTo(string path, uint user, uint group) => _ = ChangeOwner(path, user, group);

    /// <summary>Makes every thread of the process act as another user, in one group and no other, for good.</summary>
    /// <returns>The system's error number, 0 where it was done.</returns>
    public static int BecomeUser(uint user, uint group)
    {
        // The user last: it has no right to change the groups.
        var done = SetGroups(0, 0) == 0 && SetGroup(group) == 0 && SetUser(user) == 0;
        return done ? 0 : Marshal.GetLastPInvokeError();
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

    [LibraryImport("libc", EntryPoint = "statx", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Statx(int folder, string path, int flags, uint mask, out FileStatus status);

    /// <summary>The start of <c>struct statx</c>, whose layout is the same on every architecture.</summary>
    [StructLayout(LayoutKind.Explicit, Size = 256)]
    private struct FileStatus
    {
        [FieldOffset(20)] public uint User;
        [FieldOffset(24)] public uint Group;
        [FieldOffset(28)] public ushort Mode;
    }
}
