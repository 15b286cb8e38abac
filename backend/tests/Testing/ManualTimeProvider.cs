using Microsoft.Extensions.Time.Testing;

namespace Sluice.Testing;

/// <summary>
/// A clock that stands still until a test moves it. <see cref="Advance"/> goes from due time to due time, so that each timer runs with the
/// clock at its own time and what it arms on the way runs too. The wall clock can be set apart from the timestamps with
/// <see cref="SetWallClock"/>, as an administrator or NTP does: timers and durations do not feel it.
/// </summary>
public sealed class ManualTimeProvider : FakeTimeProvider
{
    private readonly Lock _gate = new();
    private readonly HashSet<TrackedTimer> _armed = [];
    private TimeSpan _wallClockShift;

    public ManualTimeProvider()
        : base(new DateTimeOffset(2026, 1, 3, 10, 0, 0, TimeSpan.Zero))
    {
    }

    /// <summary>Timers that are set and not yet due.</summary>
    public int Waiting
    {
        get
        {
            lock (_gate)
                return _armed.Count;
        }
    }

    /// <inheritdoc/>
    public override DateTimeOffset GetUtcNow()
    {
        lock (_gate)
            return base.GetUtcNow() + _wallClockShift;
    }

    /// <inheritdoc/>
    public override long GetTimestamp() => base.GetUtcNow().Ticks;

    /// <summary>Sets the wall clock forwards or backwards by <paramref name="shift"/>. No timer and no timestamp notices.</summary>
    public void SetWallClock(TimeSpan shift)
    {
        lock (_gate)
            _wallClockShift += shift;
    }

    /// <summary>Moves both clocks on and runs what becomes due on the way, each at its own time.</summary>
    public new void Advance(TimeSpan delta)
    {
        long end = GetTimestamp() + delta.Ticks;
        while (NextDue(end) is { } due)
        {
            base.Advance(TimeSpan.FromTicks(due - GetTimestamp()));
            ForgetUntil(due);
        }

        base.Advance(TimeSpan.FromTicks(end - GetTimestamp()));
    }

    /// <inheritdoc/>
    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new TrackedTimer(this, callback, state);
        timer.Inner = base.CreateTimer(timer.Run, null, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        timer.Change(dueTime, period);
        return timer;
    }

    private long? NextDue(long end)
    {
        lock (_gate)
        {
            var due = _armed.Where(timer => timer.Due <= end).Select(timer => (long?)timer.Due).Min();
            return due is { } at ? Math.Max(at, GetTimestamp()) : null;
        }
    }

    // What was due has run by now, and what runs again is armed for later. A timer that another thread has set while the clock moved can
    // be due a little later than its entry says; the entry goes all the same, or the clock would never come past it.
    private void ForgetUntil(long due)
    {
        lock (_gate)
            _armed.RemoveWhere(timer => timer.Due <= due);
    }

    /// <summary>A timer of the base class with its due time, which the base class keeps to itself.</summary>
    private sealed class TrackedTimer(ManualTimeProvider clock, TimerCallback callback, object? state) : ITimer
    {
        private TimeSpan _period = Timeout.InfiniteTimeSpan;

        public ITimer Inner { get; set; } = null!;

        public long Due { get; private set; }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            // A real timer never runs inside the call that sets it, which may hold the lock that the callback takes.
            if (dueTime == TimeSpan.Zero)
                dueTime = TimeSpan.FromTicks(1);
            var isSet = Inner.Change(dueTime, period);
            lock (clock._gate)
            {
                _period = period > TimeSpan.Zero ? period : Timeout.InfiniteTimeSpan;
                Arm(isSet ? dueTime : Timeout.InfiniteTimeSpan);
            }

            return isSet;
        }

        public void Run(object? unused)
        {
            lock (clock._gate)
                Arm(_period);
            callback(state);
        }

        public void Dispose()
        {
            lock (clock._gate)
                clock._armed.Remove(this);
            Inner.Dispose();
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }

        private void Arm(TimeSpan after)
        {
            if (after == Timeout.InfiniteTimeSpan)
            {
                clock._armed.Remove(this);
                return;
            }

            Due = clock.GetTimestamp() + after.Ticks;
            clock._armed.Add(this);
        }
    }
}
