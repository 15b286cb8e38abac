using System.Runtime.InteropServices;
using Sluice.Server.Database;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Looks for ICU before .NET does, because .NET aborts with a stack trace if ICU is missing. Handles bytes instead of text, because comparing text would load
/// the library.
/// </summary>
internal static unsafe partial class UnicodeLibrary
{
    // The range of versions that .NET accepts.
    private const int Oldest = 50;
    private const int Newest = 255;
    private const int BindLazily = 1; // RTLD_LAZY
    private const int StandardError = 2;

    /// <summary>Returns 0 if the library is installed. Otherwise prints how to install it and returns the exit code.</summary>
    public static int Check()
    {
        if (!OperatingSystem.IsLinux() || IsInstalled())
            return 0;

        var sentence = "sluice: the library ICU is missing; install it with apt-get install '^libicu..$' (Debian, Ubuntu) or dnf install libicu (Fedora)\n"u8;
        fixed (byte* bytes = sentence)
            _ = Write(StandardError, bytes, (nuint)sentence.Length);
        return StartRefusedException.BadConfiguration;
    }

    private static bool IsInstalled()
    {
        var prefix = "libicuuc.so."u8;
        Span<byte> name = stackalloc byte[prefix.Length + 4];
        prefix.CopyTo(name);
        for (var version = Oldest; version <= Newest; version++)
        {
            var end = prefix.Length;
            if (version >= 100)
                name[end++] = (byte)('0' + version / 100);
            name[end++] = (byte)('0' + version / 10 % 10);
            name[end++] = (byte)('0' + version % 10);
            name[end] = 0;
            fixed (byte* path = name)
            {
                // Leave the library open, because .NET opens it next.
                if (Open(path, BindLazily) != 0)
                    return true;
            }
        }

        return false;
    }

    [LibraryImport("libc", EntryPoint = "dlopen")]
    private static partial nint Open(byte* path, int flags);

    [LibraryImport("libc", EntryPoint = "write")]
    private static partial nint Write(int descriptor, byte* bytes, nuint count);
}
