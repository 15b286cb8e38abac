namespace Sluice.Usenet.Primitives;

/// <summary>One timer for many deadlines, armed only for the nearest, so that later ones cost no call. Its owner checks all deadlines and rearms it.</summary>
/// <remarks>Thread-safe. The lock may be taken under the owner's locks, and is not held during the check.</remarks>
internal sealed class DeadlineTimer : IDisposable, IAsyncDisposable
{
    // Because of rounding, a timer may fire slightly early. This minimum keeps it from firing repeatedly.
    private static readonly TimeSpan ShortestWait = TimeSpan.FromMilliseconds(5);

    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private readonly Action _look;
    private readonly ITimer _timer;

    // In ticks of the time provider. Guarded by _gate.
    private long _armedFor = long.MaxValue;

    /// <summary>Creates a timer that calls <paramref name="look"/>, under no lock, when a deadline is due.</summary>
    public DeadlineTimer(TimeProvider time, Action look)
    {
        (_time, _look) = (time, look);
        _timer = time.CreateTimer(static state => ((DeadlineTimer)state!).Fire(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Schedules a check after at most this time. A check due earlier remains.</summary>
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
        // Reset before the check, so that a deadline added too late for this check arms the timer again.
        lock (_gate)
            _armedFor = long.MaxValue;
        _look();
    }
}
