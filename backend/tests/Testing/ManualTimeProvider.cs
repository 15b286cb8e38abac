using Microsoft.Extensions.Time.Testing;

namespace Sluice.Testing;

/// <summary>
/// A clock that stands still until a test moves it. <see cref="Advance"/> goes from due time to due time, so each timer runs at its own
/// time, and a timer armed by a callback runs too. <see cref="SetWallClock"/> shifts the wall clock alone, as an administrator or NTP
/// does: timers and durations are unaffected.
/// </summary>
public sealed class ManualTimeProvider : FakeTimeProvider
{
    private readonly Lock _gate = new();
    private readonly HashSet<Timer> _armed = [];
    private int _alive;
    private TimeSpan _wallClockShift;

    public ManualTimeProvider()
        : base(new DateTimeOffset(2026, 1, 3, 10, 0, 0, TimeSpan.Zero))
    {
    }

    /// <summary>Number of timers that are set and not yet due.</summary>
    public int Waiting
    {
        get
        {
            lock (_gate)
                return _armed.Count;
        }
    }

    /// <summary>Whether a timer is due exactly after a span of time.</summary>
    public bool IsDueIn(TimeSpan span)
    {
        lock (_gate)
        {
            var due = GetTimestamp() + span.Ticks;
            return _armed.Any(timer => timer.Due == due);
        }
    }

    /// <summary>Number of timers that are not disposed, set or not.</summary>
    public int Alive => Volatile.Read(ref _alive);

    /// <inheritdoc/>
    public override DateTimeOffset GetUtcNow()
    {
        lock (_gate)
            return base.GetUtcNow() + _wallClockShift;
    }

    /// <inheritdoc/>
    public override long GetTimestamp() => base.GetUtcNow().Ticks;

    /// <summary>Moves the wall clock by <paramref name="shift"/>, forwards or backwards. Timers and timestamps are unaffected.</summary>
    public void SetWallClock(TimeSpan shift)
    {
        lock (_gate)
            _wallClockShift += shift;
    }

    /// <summary>Moves both clocks forward and runs each timer that becomes due, at its own time.</summary>
    public new void Advance(TimeSpan delta)
    {
        var end = GetTimestamp() + delta.Ticks;
        while (TakeDue(end) is { } due)
            due.Run();
    }

    /// <summary>Moves both clocks to the next timer due within <paramref name="span"/> and runs it, or moves them by the whole span.</summary>
    /// <returns>False if no timer was due.</returns>
    public bool AdvanceToNext(TimeSpan span)
    {
        var end = GetTimestamp() + span.Ticks;
        var due = TakeDue(end);
        due?.Run();
        return due is not null;
    }

    /// <inheritdoc/>
    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new Timer(this, callback, state);
        Interlocked.Increment(ref _alive);
        timer.Change(dueTime, period);
        return timer;
    }

    // Moves the clock to the due time of the timer and rearms or disarms it before it runs, as one step for other threads. Without a timer it moves
    // the clock to the end in the same step, because a timer set in between would be passed without running.
    private Timer? TakeDue(long end)
    {
        lock (_gate)
        {
            var next = _armed.Where(timer => timer.Due <= end).MinBy(timer => timer.Due);
            MoveTo(next?.Due ?? end);
            next?.Rearm();
            return next;
        }
    }

    private void MoveTo(long timestamp)
    {
        if (timestamp - GetTimestamp() is > 0 and var ticks)
            base.Advance(TimeSpan.FromTicks(ticks));
    }

    private sealed class Timer(ManualTimeProvider clock, TimerCallback callback, object? state) : ITimer
    {
        private TimeSpan _period;
        private bool _isDisposed;

        public long Due { get; private set; }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (clock._gate)
            {
                if (_isDisposed)
                    return false;
                _period = period;
                Arm(dueTime);
            }

            return true;
        }

        public void Rearm() => Arm(_period > TimeSpan.Zero ? _period : Timeout.InfiniteTimeSpan);

        public void Run() => callback(state);

        public void Dispose()
        {
            lock (clock._gate)
            {
                clock._armed.Remove(this);
                if (!_isDisposed)
                    Interlocked.Decrement(ref clock._alive);
                _isDisposed = true;
            }
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }

        private void Arm(TimeSpan after)
        {
            clock._armed.Remove(this);
            if (after == Timeout.InfiniteTimeSpan)
                return;

            // A real timer never runs inside the call that sets it, which may hold the lock that the callback takes.
            Due = clock.GetTimestamp() + Math.Max(1, after.Ticks);
            clock._armed.Add(this);
        }
    }
}
