namespace Sluice.Testing;

/// <summary>
/// A clock slower than the system's by a factor. Timers wait that many times longer, so waiting counts in full, while the computing
/// time of a busy machine counts less by the factor. Thread-safe.
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

    // A timer has an upper limit; 30 days are practically never.
    private TimeSpan Slowed(TimeSpan span) =>
        span <= TimeSpan.Zero ? span : span > TimeSpan.FromDays(30) / factor ? TimeSpan.FromDays(30) : span * factor;

    private sealed class Timer(ITimer timer, SlowedClock clock) : ITimer
    {
        public bool Change(TimeSpan dueTime, TimeSpan period) => timer.Change(clock.Slowed(dueTime), clock.Slowed(period));

        public void Dispose() => timer.Dispose();

        public ValueTask DisposeAsync() => timer.DisposeAsync();
    }
}
