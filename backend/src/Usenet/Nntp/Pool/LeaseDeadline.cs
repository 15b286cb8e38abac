namespace Sluice.Usenet.Nntp;

/// <summary>
/// The end of the patience of all leases that wait in one pool. One timer serves them all: it is armed for the earliest, and a
/// lease that is granted in time does not touch it.
/// </summary>
/// <remarks>Thread-safe. Its lock is taken below that of the pool, and not held while the timer fires.</remarks>
internal sealed class LeaseDeadline : IDisposable
{
    // Rounding may fire a timer a moment early; this keeps it from firing in a row.
    private static readonly TimeSpan ShortestWait = TimeSpan.FromMilliseconds(5);

    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private readonly Func<long, long?> _expire;
    private readonly ITimer _timer;
    private long? _armedFor;

    /// <param name="time">Clock.</param>
    /// <param name="expire">Ends the waits whose deadline has come at this timestamp, and says when the next one ends.</param>
    public LeaseDeadline(TimeProvider time, Func<long, long?> expire)
    {
        (_time, _expire) = (time, expire);
        _timer = time.CreateTimer(static state => ((LeaseDeadline)state!).Fire(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>A lease waits until this timestamp.</summary>
    public void Arm(long at)
    {
        lock (_gate)
        {
            if (_armedFor <= at)
                return;
            _armedFor = at;
            var due = TimeSpan.FromSeconds((double)(at - _time.GetTimestamp()) / _time.TimestampFrequency);
            _timer.Change(due > ShortestWait ? due : ShortestWait, Timeout.InfiniteTimeSpan);
        }
    }

    public void Dispose() => _timer.Dispose();

    private void Fire()
    {
        lock (_gate)
            _armedFor = null;
        if (_expire(_time.GetTimestamp()) is { } next)
            Arm(next);
    }
}
