namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>Time stamps and waits on the clock that the mock was given. Thread-safe.</summary>
internal sealed class MockClock(TimeProvider time)
{
    private readonly long _start = time.GetTimestamp();

    /// <summary>The clock behind it.</summary>
    public TimeProvider Provider => time;

    /// <summary>A time stamp.</summary>
    public long Now => time.GetTimestamp();

    /// <summary>Time since the mock's start.</summary>
    public TimeSpan SinceStart => time.GetElapsedTime(_start);

    /// <summary>The stamp that lies this much later.</summary>
    public long Add(long stamp, TimeSpan duration) => stamp + (long)(duration.TotalSeconds * time.TimestampFrequency);

    /// <summary>Waits until a stamp has passed, never less.</summary>
    public async ValueTask UntilAsync(long stamp, CancellationToken cancellationToken)
    {
        while (time.GetElapsedTime(Now, stamp) is var left && left > TimeSpan.Zero)
        {
            // Timers count whole milliseconds and may fire early by the fraction: hence rounded up, and asked again.
            await Task.Delay(TimeSpan.FromMilliseconds(Math.Ceiling(left.TotalMilliseconds)), time, cancellationToken);
        }
    }

    /// <summary>Waits for a duration; null waits until it is cancelled.</summary>
    public Task DelayAsync(TimeSpan? duration, CancellationToken cancellationToken) =>
        Task.Delay(duration ?? Timeout.InfiniteTimeSpan, time, cancellationToken);
}
