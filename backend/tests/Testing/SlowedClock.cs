namespace Sluice.Testing;

/// <summary>
/// A clock that goes slower than the system's: timers wait as many times longer, so that what is waited for counts in full, and what a
/// busy machine needs for computing counts for that much less. Thread-safe.
/// </summary>
/// <param name="factor">How many times slower.</param>
public sealed class SlowedClock(int factor) : TimeProvider
{
    private readonly DateTimeOffset _start = System.GetUtcNow();
    private readonly long _startTimestamp = System.GetTimestamp();

    /// <inheritdoc/>
    public override long GetTimestamp() => _startTimestamp + ((System.GetTimestamp() - _startTimestamp) / factor);

    /// <inheritdoc/>
    public override DateTimeOffset GetUtcNow() => _start + ((System.GetUtcNow() - _start) / factor);

    /// <inheritdoc/>
    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        new Timer(System.CreateTimer(callback, state, Slowed(dueTime), Slowed(period)), this);

    // Longer than what a timer takes is as good as never.
    private TimeSpan Slowed(TimeSpan span) =>
        span <= TimeSpan.Zero ? span : span > TimeSpan.FromDays(30) / factor ? TimeSpan.FromDays(30) : span * factor;

    private sealed class Timer(ITimer timer, SlowedClock clock) : ITimer
    {
        public bool Change(TimeSpan dueTime, TimeSpan period) => timer.Change(clock.Slowed(dueTime), clock.Slowed(period));

        public void Dispose() => timer.Dispose();

        public ValueTask DisposeAsync() => timer.DisposeAsync();
    }
}
