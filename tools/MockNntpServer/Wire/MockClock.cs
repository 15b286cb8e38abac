namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>Timestamps and waits on the mock's clock. Thread-safe.</summary>
internal sealed class MockClock(TimeProvider time)
{
    private readonly long _start = time.GetTimestamp();

    public TimeProvider Provider => time;

    public long Now => time.GetTimestamp();

    public TimeSpan SinceStart => time.GetElapsedTime(_start);

    /// <summary>Returns a timestamp plus a duration.</summary>
    public long Add(long stamp, TimeSpan duration) => stamp + (long)(duration.TotalSeconds * time.TimestampFrequency);

    /// <summary>Waits until a timestamp has passed, never less.</summary>
    public async ValueTask UntilAsync(long stamp, CancellationToken cancellationToken)
    {
        while (LeftUntil(stamp) is var left && left > TimeSpan.Zero)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var passed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            await using var registration = cancellationToken.Register(() => passed.TrySetCanceled(cancellationToken));

            // Round up and check again, because timers count whole milliseconds and may fire early by a fraction.
            await using var timer = time.CreateTimer(_ => passed.TrySetResult(), null, TimeSpan.FromMilliseconds(Math.Ceiling(left.TotalMilliseconds)), Timeout.InfiniteTimeSpan);

            // Check again, because a test clock may have jumped between the check and the timer.
            if (LeftUntil(stamp) > left - TimeSpan.FromMilliseconds(1))
                await passed.Task;
        }
    }

    /// <summary>Waits for a duration; null waits until canceled.</summary>
    public async ValueTask DelayAsync(TimeSpan? duration, CancellationToken cancellationToken)
    {
        if (duration is { } known)
            await UntilAsync(Add(Now, known), cancellationToken);
        else
            await Task.Delay(Timeout.InfiniteTimeSpan, time, cancellationToken);
    }

    private TimeSpan LeftUntil(long stamp) => time.GetElapsedTime(Now, stamp);
}
