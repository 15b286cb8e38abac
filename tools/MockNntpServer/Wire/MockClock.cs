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
        while (LeftUntil(stamp) is var left && left > TimeSpan.Zero)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var passed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            await using var registration = cancellationToken.Register(() => passed.TrySetCanceled(cancellationToken));

            // Timers count whole milliseconds and may fire early by the fraction: hence rounded up, and asked again.
            await using var timer = time.CreateTimer(_ => passed.TrySetResult(), null, TimeSpan.FromMilliseconds(Math.Ceiling(left.TotalMilliseconds)), Timeout.InfiniteTimeSpan);

            // A clock that a test moves may have jumped between the question and the timer.
            if (LeftUntil(stamp) > left - TimeSpan.FromMilliseconds(1))
                await passed.Task;
        }
    }

    /// <summary>Waits for a duration; null waits until it is cancelled.</summary>
    public async ValueTask DelayAsync(TimeSpan? duration, CancellationToken cancellationToken)
    {
        if (duration is { } known)
            await UntilAsync(Add(Now, known), cancellationToken);
        else
            await Task.Delay(Timeout.InfiniteTimeSpan, time, cancellationToken);
    }

    private TimeSpan LeftUntil(long stamp) => time.GetElapsedTime(Now, stamp);
}
