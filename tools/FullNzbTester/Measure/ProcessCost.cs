using System.Diagnostics;

namespace Sluice.Tools.FullNzbTester.Measure;

/// <summary>CPU time, allocations and GC pauses of a process, in total or since an earlier reading; null if unknown.</summary>
/// <param name="CpuSeconds">User and system time in seconds.</param>
/// <param name="Allocated">Managed bytes allocated.</param>
/// <param name="PausedMilliseconds">Time in which the GC paused all threads, in ms.</param>
internal readonly record struct ProcessCost(double? CpuSeconds, long? Allocated, double? PausedMilliseconds)
{
    public static ProcessCost OfThis()
    {
        using var self = Process.GetCurrentProcess();
        return new ProcessCost(self.TotalProcessorTime.TotalSeconds, GC.GetTotalAllocatedBytes(), GC.GetTotalPauseDuration().TotalMilliseconds);
    }

    /// <summary>Returns the CPU time of another process, because the system reports nothing else. Everything is null without an id.</summary>
    /// <exception cref="ArgumentException">The process does not exist.</exception>
    public static ProcessCost Of(int? pid)
    {
        if (pid is null)
            return default;
        using var process = Process.GetProcessById(pid.Value);
        return new ProcessCost(process.TotalProcessorTime.TotalSeconds, null, null);
    }

    public ProcessCost Since(ProcessCost start) =>
        new(CpuSeconds - start.CpuSeconds, Allocated - start.Allocated, PausedMilliseconds - start.PausedMilliseconds);
}
