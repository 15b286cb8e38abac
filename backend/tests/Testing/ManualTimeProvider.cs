namespace Sluice.Testing;

/// <summary>A clock that stands still until a test moves it. Timers that become due run inside <see cref="Advance"/>, in order.</summary>
public sealed class ManualTimeProvider : TimeProvider
{
    private readonly Lock _gate = new();
    private readonly List<ManualTimer> _timers = [];
    private DateTimeOffset _now = new(2026, 1, 3, 10, 0, 0, TimeSpan.Zero);

    /// <inheritdoc/>
    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    /// <summary>Timers that are set and not yet due.</summary>
    public int Waiting
    {
        get
        {
            lock (_gate)
                return _timers.Count(timer => timer.Due is not null);
        }
    }

    /// <inheritdoc/>
    public override DateTimeOffset GetUtcNow()
    {
        lock (_gate)
            return _now;
    }

    /// <inheritdoc/>
    public override long GetTimestamp() => GetUtcNow().Ticks;

    /// <summary>Moves the clock and runs what becomes due on the way, each at its own time.</summary>
    public void Advance(TimeSpan span)
    {
        DateTimeOffset end = GetUtcNow() + span;
        while (true)
        {
            ManualTimer? next;
            lock (_gate)
            {
                next = _timers.Where(timer => timer.Due <= end).MinBy(timer => timer.Due);
                _now = next?.Due ?? end;
                next?.Rearm();
            }

            if (next is null)
                return;
            next.Run();
        }
    }

    /// <inheritdoc/>
    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new ManualTimer(this, callback, state);
        timer.Change(dueTime, period);
        lock (_gate)
            _timers.Add(timer);
        return timer;
    }

    private sealed class ManualTimer(ManualTimeProvider clock, TimerCallback callback, object? state) : ITimer
    {
        private TimeSpan _period = Timeout.InfiniteTimeSpan;

        public DateTimeOffset? Due { get; private set; }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (clock._gate)
            {
                Due = dueTime == Timeout.InfiniteTimeSpan ? null : clock._now + dueTime;
                _period = period;
            }

            return true;
        }

        public void Rearm() => Due = _period <= TimeSpan.Zero ? null : Due + _period;

        public void Run() => callback(state);

        public void Dispose()
        {
            lock (clock._gate)
                clock._timers.Remove(this);
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
