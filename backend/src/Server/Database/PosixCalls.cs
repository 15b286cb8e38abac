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

    /// <summary>Owner and mode of a path as <c> (owner 0:0, mode 755)</c>, or nothing where the system does not tell.</summary>
    public static string DescribeOwner(string path)
    {
        if (!OperatingSystem.IsLinux())
            return "";

        const uint modeAndOwner = 0x2 | 0x8 | 0x10; // STATX_MODE, STATX_UID, STATX_GID
        try
        {
            return Statx(CurrentFolder, path, 0, modeAndOwner, out var found) == 0
                ? $" (owner {found.User}:{found.Group}, mode {Convert.ToString(found.Mode & 0xFFF, 8)})"
                : "";
        }
        catch (EntryPointNotFoundException)
        {
            return "";
        }
    }

    private static IOException Failure(string call, string path)
    {
        var error = Marshal.GetLastPInvokeError();
        return new IOException($"{call} of {path} failed: {Marshal.GetPInvokeErrorMessage(error)}", error);
    }

    [LibraryImport("libc", EntryPoint = "open", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Open(string path, int flags);

    [LibraryImport("libc", EntryPoint = "fsync", SetLastError = true)]
    private static partial int Fsync(int descriptor);

    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    private static partial int Close(int descriptor);

    [LibraryImport("libc", EntryPoint = "geteuid")]
    private static partial uint GetEffectiveUser();

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
