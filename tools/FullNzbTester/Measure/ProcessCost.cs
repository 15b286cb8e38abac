using System.Diagnostics;

namespace Sluice.Tools.FullNzbTester.Measure;

/// <summary>What this process has spent since a moment.</summary>
internal readonly struct ProcessCost
{
    private readonly TimeSpan _cpu;
    private readonly long _allocated;
    private readonly TimeSpan _paused;

    private ProcessCost(TimeSpan cpu, long allocated, TimeSpan paused) => (_cpu, _allocated, _paused) = (cpu, allocated, paused);

    /// <summary>User and system time in seconds.</summary>
    public double CpuSeconds => _cpu.TotalSeconds;

    /// <summary>Managed bytes allocated.</summary>
    public long Allocated => _allocated;

    /// <summary>Time in which the collector stopped all threads, in ms.</summary>
    public double PausedMilliseconds => _paused.TotalMilliseconds;

    public static ProcessCost Now()
    {
        using var self = Process.GetCurrentProcess();
        return new ProcessCost(self.TotalProcessorTime, GC.GetTotalAllocatedBytes(), GC.GetTotalPauseDuration());
    }

    public ProcessCost Since(ProcessCost start) => new(_cpu - start._cpu, _allocated - start._allocated, _paused - start._paused);
}
