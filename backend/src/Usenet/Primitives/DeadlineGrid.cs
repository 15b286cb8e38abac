namespace Sluice.Usenet.Primitives;

/// <summary>
/// One timer for the deadlines of many connections, so that together they wake only one thread, a few times a second. The timer checks distant deadlines
/// slightly early and together. While bytes flow, such a deadline keeps moving, so no thread ever wakes at its exact time.
/// </summary>
/// <remarks>
/// Thread-safe. The lock may be taken under the locks of owners, but is not held during their checks. Checks run one at a time and must not block. The timer
/// exists only while there are deadlines.
/// </remarks>
internal sealed class DeadlineGrid(TimeProvider time)
{
    /// <summary>The timer checks a distant deadline at the last multiple of this time before the deadline.</summary>
    public static readonly TimeSpan Coarse = TimeSpan.FromMilliseconds(40);

    /// <summary>The timer checks a near deadline at the next multiple of this time.</summary>
    public static readonly TimeSpan Fine = TimeSpan.FromMilliseconds(10);

    // The system's timer clock is coarse, so a timer may fire early by almost this much. Each check therefore covers all deadlines due within this time, so
    // that the timer need not fire twice.
    private static readonly TimeSpan ShortestWait = TimeSpan.FromMilliseconds(5);

    private readonly Lock _gate = new();
    private readonly long _coarse = TicksOf(Coarse, time);
    private readonly long _fine = TicksOf(Fine, time);
    private readonly long _shortest = TicksOf(ShortestWait, time);

    // Guarded by _gate. Times are in ticks of the time provider.
    private readonly List<Deadline> _deadlines = [];
    private ITimer? _timer;
    private long _armedFor = long.MaxValue;
    private bool _isFiring;

    // Used only by the timer, which is not rearmed until all checks have ended.
    private readonly List<Deadline> _due = [];

    /// <summary>Adds an unarmed deadline. <paramref name="look"/> is called, possibly early and under no lock, to check the owner.</summary>
    public Deadline Add(Action look)
    {
        var deadline = new Deadline(this, look);
        lock (_gate)
        {
            _deadlines.Add(deadline);
            _timer ??= time.CreateTimer(static grid => ((DeadlineGrid)grid!).Fire(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }

        return deadline;
    }

    private static long TicksOf(TimeSpan span, TimeProvider time) => (long)(span.TotalSeconds * time.TimestampFrequency);

    private void Arm(Deadline deadline, TimeSpan due)
    {
        lock (_gate)
        {
            var now = time.GetTimestamp();
            var soonest = now + _shortest;
            var at = now + TicksOf(due, time);
            var early = at / _coarse * _coarse;
            at = early >= soonest ? early : (Math.Max(at, soonest) + _fine - 1) / _fine * _fine;
            if (deadline.At <= at || deadline.IsDisposed)
                return;
            deadline.At = at;
            if (!_isFiring)
                ArmTimer(at, now);
        }
    }

    private async ValueTask RemoveAsync(Deadline deadline)
    {
        ITimer? timer = null;
        Task? running;
        lock (_gate)
        {
            running = deadline.Remove();
            if (_deadlines.Remove(deadline) && _deadlines.Count == 0)
                (timer, _timer, _armedFor) = (_timer, null, long.MaxValue);
        }

        if (timer is not null)
            await timer.DisposeAsync();
        if (running is not null)
            await running;
    }

    private void Fire()
    {
        lock (_gate)
        {
            (_armedFor, _isFiring) = (long.MaxValue, true);
            var until = time.GetTimestamp() + _shortest;
            foreach (var deadline in _deadlines)
            {
                if (deadline.At <= until)
                    _due.Add(deadline);
            }
        }

        foreach (var deadline in _due)
            deadline.Run();
        _due.Clear();

        lock (_gate)
        {
            _isFiring = false;
            var nearest = long.MaxValue;
            foreach (var deadline in _deadlines)
                nearest = Math.Min(nearest, deadline.At);
            if (nearest != long.MaxValue)
                ArmTimer(nearest, time.GetTimestamp());
        }
    }

    // Called under _gate.
    private void ArmTimer(long at, long now)
    {
        if (_armedFor <= at || _timer is null)
            return;
        _armedFor = at;
        _timer.Change(time.GetElapsedTime(now, Math.Max(at, now + 1)), Timeout.InfiniteTimeSpan);
    }

    /// <summary>One deadline of a grid. A check disarms it.</summary>
    internal sealed class Deadline(DeadlineGrid grid, Action look) : IAsyncDisposable
    {
        // Guarded by the grid's _gate. _hasRun completes when a check that was running during the removal ends.
        private bool _isRunning;
        private TaskCompletionSource? _hasRun;

        public long At { get; set; } = long.MaxValue;

        public bool IsDisposed { get; private set; }

        /// <summary>Schedules a check after this time, up to <see cref="Coarse"/> earlier or <see cref="Fine"/> later. A check due earlier remains.</summary>
        public void Arm(TimeSpan due) => grid.Arm(this, due);

        /// <summary>Removes the deadline, and waits for a running check.</summary>
        public ValueTask DisposeAsync() => grid.RemoveAsync(this);

        /// <summary>Called under the grid's <c>_gate</c>. Returns a task that ends with the running check, or null if no check is running.</summary>
        public Task? Remove()
        {
            (IsDisposed, At) = (true, long.MaxValue);
            return _isRunning ? (_hasRun ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task : null;
        }

        public void Run()
        {
            lock (grid._gate)
            {
                if (IsDisposed)
                    return;
                (_isRunning, At) = (true, long.MaxValue);
            }

            look();
            lock (grid._gate)
            {
                _isRunning = false;
                _hasRun?.SetResult();
            }
        }
    }
}
