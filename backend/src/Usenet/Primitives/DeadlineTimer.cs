namespace Sluice.Usenet.Primitives;

/// <summary>
/// One timer for many deadlines. It is armed for the nearest, so that a deadline behind the nearest costs no timer call; when it fires,
/// its owner looks at all of them and arms it again for the next.
/// </summary>
/// <remarks>Thread-safe. Its lock is taken below the locks of its owner, and is not held while the owner looks.</remarks>
internal sealed class DeadlineTimer : IDisposable, IAsyncDisposable
{
    // Rounding may fire a timer a moment early; this keeps it from firing in a row.
    private static readonly TimeSpan ShortestWait = TimeSpan.FromMilliseconds(5);

    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private readonly Action _look;
    private readonly ITimer _timer;

    // In ticks of the time provider. Guarded by _gate.
    private long _armedFor = long.MaxValue;

    /// <param name="time">Clock.</param>
    /// <param name="look">Called when a deadline has come, under no lock.</param>
    public DeadlineTimer(TimeProvider time, Action look)
    {
        (_time, _look) = (time, look);
        _timer = time.CreateTimer(static state => ((DeadlineTimer)state!).Fire(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>The owner looks after this time at the latest; a look that is due sooner stands.</summary>
    public void Arm(TimeSpan due)
    {
        due = due > ShortestWait ? due : ShortestWait;
        lock (_gate)
        {
            var at = _time.GetTimestamp() + (long)(due.TotalSeconds * _time.TimestampFrequency);
            if (_armedFor <= at)
                return;
            _armedFor = at;
            _timer.Change(due, Timeout.InfiniteTimeSpan);
        }
    }

    public void Dispose() => _timer.Dispose();

    public ValueTask DisposeAsync() => _timer.DisposeAsync();

    private void Fire()
    {
        // Before the look, so that what the look does not see any more arms the timer anew.
        lock (_gate)
            _armedFor = long.MaxValue;
        _look();
    }
}
