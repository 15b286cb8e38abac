namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>Limits bytes per second, in steps of 10 ms. Callers reserve time in request order, so that equal slices share evenly. Thread-safe.</summary>
internal sealed class TokenBucket(MockClock clock)
{
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(10);

    private readonly Lock _lock = new();
    private long _free;

    /// <summary>Returns the largest slice that fits one step at this rate.</summary>
    public static int SliceFor(long bytesPerSecond) =>
        bytesPerSecond <= 0 ? int.MaxValue : (int)Math.Clamp((long)(bytesPerSecond * Step.TotalSeconds), 512, 64 * 1024);

    /// <summary>Waits until the bytes may be sent.</summary>
    /// <param name="bytes">Size of the slice.</param>
    /// <param name="bytesPerSecond">Current rate; 0 for no limit.</param>
    public async ValueTask TakeAsync(int bytes, long bytesPerSecond, CancellationToken cancellationToken)
    {
        if (bytesPerSecond <= 0)
            return;

        long start, now;
        lock (_lock)
        {
            now = clock.Now;
            start = Math.Max(_free, now);
            _free = clock.Add(start, TimeSpan.FromSeconds((double)bytes / bytesPerSecond));
        }

        if (start >= clock.Add(now, Step))
            await clock.UntilAsync(start, cancellationToken);
    }
}
