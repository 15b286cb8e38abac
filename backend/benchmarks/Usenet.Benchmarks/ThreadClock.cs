using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Sluice.Usenet.Benchmarks;

/// <summary>The CPU time of this thread where the system tells it: a thread that has to wait for a core is not slower.</summary>
internal static partial class ThreadClock
{
    private const int ThreadCpuTime = 3;

    /// <summary>Seconds since some point in the past.</summary>
    public static double Now()
    {
        if (!OperatingSystem.IsLinux())
            return Stopwatch.GetTimestamp() / (double)Stopwatch.Frequency;
        if (GetTime(ThreadCpuTime, out var time) != 0)
            throw new InvalidOperationException("This system has no clock per thread.");
        return time.Seconds + (time.Nanoseconds * 1e-9);
    }

    [LibraryImport("libc", EntryPoint = "clock_gettime")]
    private static partial int GetTime(int clock, out TimeSpec time);

    private readonly struct TimeSpec
    {
        public readonly long Seconds;
        public readonly long Nanoseconds;
    }
}
