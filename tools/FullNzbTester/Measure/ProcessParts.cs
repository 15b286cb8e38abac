using System.Diagnostics;

namespace Sluice.Tools.FullNzbTester.Measure;

/// <summary>What a process holds of the system, by number.</summary>
/// <param name="Threads">Threads.</param>
/// <param name="Handles">Open handles, sockets among them.</param>
/// <param name="Sockets">Sockets.</param>
internal readonly record struct ProcessParts(double Threads, double Handles, double Sockets)
{
    /// <summary>A process now; null where nothing is known, as on systems without <c>/proc</c>.</summary>
    public static ProcessParts? Of(int? pid)
    {
        if (pid is not { } known || !OperatingSystem.IsLinux())
            return null;
        try
        {
            using var process = Process.GetProcessById(known);
            var handles = new DirectoryInfo($"/proc/{known}/fd").GetFileSystemInfos();
            return new ProcessParts(process.Threads.Count, handles.Length, handles.Count(static handle => handle.LinkTarget?.StartsWith("socket:", StringComparison.Ordinal) == true));
        }
        catch (Exception gone) when (gone is ArgumentException or IOException or UnauthorizedAccessException)
        {
            // The process has ended, or belongs to another user.
            return null;
        }
    }

    /// <summary>By how much the last third of some samples is above the first, by medians, so that a single peak does not count.</summary>
    public static ProcessParts? Growth(IReadOnlyList<ProcessParts> samples)
    {
        var third = samples.Count / 3;
        if (third == 0)
            return null;
        var (first, last) = (samples.Take(third).ToList(), samples.Skip(samples.Count - third).ToList());
        return new ProcessParts(Grown(part => part.Threads), Grown(part => part.Handles), Grown(part => part.Sockets));

        double Grown(Func<ProcessParts, double> value) => Median(last.Select(value)) - Median(first.Select(value));
    }

    private static double Median(IEnumerable<double> values)
    {
        var sorted = values.Order().ToArray();
        return sorted[sorted.Length / 2];
    }
}
