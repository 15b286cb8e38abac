using System.Diagnostics;

namespace Sluice.Tools.FullNzbTester.Measure;

/// <summary>Threads, handles and sockets of a process.</summary>
/// <param name="Handles">Open handles, including sockets.</param>
internal readonly record struct ProcessParts(double Threads, double Handles, double Sockets)
{
    /// <summary>Returns the current numbers; null if unknown, as on systems without <c>/proc</c>.</summary>
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
            // The process has ended or belongs to another user.
            return null;
        }
    }

    /// <summary>Returns the growth from the first to the last third by medians, so that a single peak does not count.</summary>
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
