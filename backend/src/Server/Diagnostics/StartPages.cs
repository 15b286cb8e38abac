using System.Globalization;
using System.Runtime.InteropServices;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Releases memory pages of the program's own files after startup, because most of their code and tables were needed only during startup. On demand, the kernel
/// reloads a page from the file or the page cache.
/// </summary>
internal static partial class StartPages
{
    private const string OwnPages = "/proc/self/smaps";
    private const int DontNeed = 4; // MADV_DONTNEED

    /// <summary>Releases the pages. Does nothing if the system does not list the process's mappings.</summary>
    public static void ReleasePages()
    {
        if (!OperatingSystem.IsLinux())
            return;

        try
        {
            foreach (var (begin, length) in Find(File.ReadAllLines(OwnPages)))
                _ = Advise(begin, length, DontNeed);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // A failure is harmless, because the pages simply stay in memory.
        }
    }

    /// <summary>
    /// Finds private, read-only file mappings without modified pages, such as the program and its libraries. Skips shared mappings, and mappings of deleted
    /// files, which could not be reloaded. The lines have the format of proc_pid_smaps(5).
    /// </summary>
    internal static IEnumerable<(nint Begin, nuint Length)> Find(IReadOnlyList<string> lines)
    {
        (nint Begin, nuint Length)? mapping = null;
        var own = false;
        foreach (var line in lines)
        {
            if (line.EndsWith(" kB", StringComparison.Ordinal))
            {
                own |= (line.StartsWith("Anonymous:", StringComparison.Ordinal) || line.StartsWith("Swap:", StringComparison.Ordinal)) && !line.EndsWith(" 0 kB", StringComparison.Ordinal);
                continue;
            }

            if (line.Split(' ', 6) is not [var range, var rights, _, _, _, var file] || range.Split('-') is not [var from, var to])
                continue;
            if (mapping is { } complete && !own)
                yield return complete;
            own = false;
            mapping = rights is ['r', '-', _, 'p'] && file.TrimStart().StartsWith('/') && !file.EndsWith(" (deleted)", StringComparison.Ordinal)
                && nuint.TryParse(from, NumberStyles.HexNumber, CultureInfo.InvariantCulture, out var begin)
                && nuint.TryParse(to, NumberStyles.HexNumber, CultureInfo.InvariantCulture, out var end)
                ? ((nint)begin, end - begin)
                : null;
        }

        if (mapping is { } last && !own)
            yield return last;
    }

    [LibraryImport("libc", EntryPoint = "madvise")]
    private static partial int Advise(nint begin, nuint length, int advice);
}
