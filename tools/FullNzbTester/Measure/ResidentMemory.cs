namespace Sluice.Tools.FullNzbTester.Measure;

/// <summary>Watches the resident memory of this process, ten times a second.</summary>
internal sealed class ResidentMemory : IAsyncDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(100);

    private readonly PeriodicTimer _timer = new(Interval, TimeProvider.System);
    private readonly Task _watching;
    private long _peak;

    public ResidentMemory()
    {
        Idle = NowMiB;
        _watching = WatchAsync();
    }

    /// <summary>MiB now.</summary>
    public static double NowMiB => Environment.WorkingSet / (double)(1 << 20);

    /// <summary>MiB at the start.</summary>
    public double Idle { get; }

    /// <summary>Most MiB seen.</summary>
    public double Peak => Math.Max(Volatile.Read(ref _peak) / (double)(1 << 20), NowMiB);

    public async ValueTask DisposeAsync()
    {
        _timer.Dispose();
        await _watching;
    }

    private async Task WatchAsync()
    {
        do
        {
            Volatile.Write(ref _peak, Math.Max(_peak, Environment.WorkingSet));
        }
        while (await _timer.WaitForNextTickAsync());
    }
}
