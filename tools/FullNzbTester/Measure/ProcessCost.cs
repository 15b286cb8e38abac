using System.Diagnostics;

namespace Sluice.Tools.FullNzbTester.Measure;

/// <summary>What a process has spent, all of it or since a moment; null is "not known".</summary>
/// <param name="CpuSeconds">User and system time in seconds.</param>
/// <param name="Allocated">Managed bytes allocated.</param>
/// <param name="PausedMilliseconds">Time in which the collector stopped all threads, in ms.</param>
internal readonly record struct ProcessCost(double? CpuSeconds, long? Allocated, double? PausedMilliseconds)
{
    /// <summary>This process.</summary>
    public static ProcessCost OfThis()
    {
        using var self = Process.GetCurrentProcess();
        return new ProcessCost(self.TotalProcessorTime.TotalSeconds, GC.GetTotalAllocatedBytes(), GC.GetTotalPauseDuration().TotalMilliseconds);
    }

    /// <summary>Another process, of which the system tells the time alone; nothing is known without one.</summary>
    /// <exception cref="ArgumentException">There is no such process.</exception>
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
