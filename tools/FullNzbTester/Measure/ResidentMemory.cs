using System.Diagnostics;

namespace Sluice.Tools.FullNzbTester.Measure;

/// <summary>Samples the resident memory of the measured process ten times a second.</summary>
internal sealed class ResidentMemory : IAsyncDisposable
{
    private const double MiB = 1 << 20;
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(100);

    private readonly PeriodicTimer _timer = new(Interval, TimeProvider.System);
    private readonly Func<long?> _read;
    private readonly Task _watching;
    private long _peak;

    private ResidentMemory(Func<long?> read)
    {
        _read = read;
        Idle = Now;
        _watching = WatchAsync();
    }

    /// <summary>Current MiB; null if unknown.</summary>
    public double? Now => _read() / MiB;

    public double? Idle { get; }

    /// <summary>Peak in MiB.</summary>
    public double? Peak => Now is { } now ? Math.Max(Volatile.Read(ref _peak) / MiB, now) : null;

    public static ResidentMemory OfThis() => new(() => Environment.WorkingSet);

    /// <summary>Watches another process, or nothing if the id is null.</summary>
    public static ResidentMemory Of(int? pid) => new(() => pid is { } known ? Read(known) : null);

    public async ValueTask DisposeAsync()
    {
        _timer.Dispose();
        await _watching;
    }

    private static long? Read(int pid)
    {
        try
        {
            using var process = Process.GetProcessById(pid);
            return process.WorkingSet64;
        }
        catch (ArgumentException)
        {
            // The process has ended. Other steps report that.
            return null;
        }
    }

    private async Task WatchAsync()
    {
        do
        {
            Volatile.Write(ref _peak, Math.Max(_peak, _read() ?? 0));
        }
        while (await _timer.WaitForNextTickAsync());
    }
}
