using System.Diagnostics;

namespace Sluice.Tools.FullNzbTester.Measure;

/// <summary>Watches the resident memory of the measured process, ten times a second.</summary>
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

    /// <summary>MiB now; null where nothing is known.</summary>
    public double? Now => _read() / MiB;

    /// <summary>MiB at the start.</summary>
    public double? Idle { get; }

    /// <summary>Most MiB seen.</summary>
    public double? Peak => Now is { } now ? Math.Max(Volatile.Read(ref _peak) / MiB, now) : null;

    /// <summary>Watches this process.</summary>
    public static ResidentMemory OfThis() => new(() => Environment.WorkingSet);

    /// <summary>Watches another process, or nothing.</summary>
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
            // It has ended, which other steps notice.
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
