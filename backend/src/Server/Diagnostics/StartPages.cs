using System.Globalization;
using System.Runtime.InteropServices;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Takes the pages of the files that the program consists of out of its memory once it serves: most of their code and tables are read by the
/// start alone. What is needed again is mapped again at its next use, from the file or from where the system has cached it.
/// </summary>
internal static partial class StartPages
{
    private const string OwnPages = "/proc/self/smaps";
    private const int DontNeed = 4; // MADV_DONTNEED

    /// <summary>Gives them back. Nothing happens where the system does not tell what is mapped.</summary>
    public static void GiveBack()
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
            // The pages stay, which costs memory and nothing else.
        }
    }

    /// <summary>
    /// The private mappings of files that cannot be written and of which no page has become the process's own, whose content only memory has:
    /// the program, the assemblies and libraries that it has loaded. A file that was deleted since stays, as does what is shared.
    /// </summary>
    /// <param name="lines">As the system prints them (proc_pid_smaps(5)): a line with the range, then lines about it.</param>
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
