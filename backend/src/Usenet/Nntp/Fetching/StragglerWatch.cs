namespace Sluice.Usenet.Nntp;

/// <summary>
/// Looks after the fetches that readers wait for. One timer serves all of them; it is armed for the nearest that could become
/// late and rests while nobody waits.
/// </summary>
/// <remarks>Thread-safe. Its lock is held neither while a fetch looks nor while the timer fires.</remarks>
internal sealed class StragglerWatch : IDisposable
{
    // Rounding may fire a timer a moment early; this keeps it from firing in a row.
    private static readonly TimeSpan ShortestWait = TimeSpan.FromMilliseconds(5);

    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private readonly ITimer _timer;
    private readonly HashSet<HedgedFetch> _watched = [];
    private long? _armedFor;

    public StragglerWatch(TimeProvider time)
    {
        _time = time;
        _timer = time.CreateTimer(static state => ((StragglerWatch)state!).LookAround(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Begins to look after a fetch.</summary>
    /// <param name="fetch">A reader waits for it.</param>
    /// <param name="due">How soon it could be late.</param>
    public void Add(HedgedFetch fetch, TimeSpan due)
    {
        lock (_gate)
        {
            _watched.Add(fetch);
            Arm(due);
        }
    }

    /// <summary>Ends looking after a fetch; a look that has begun may still come.</summary>
    public void Remove(HedgedFetch fetch)
    {
        lock (_gate)
            _watched.Remove(fetch);
    }

    public void Dispose() => _timer.Dispose();

    private void LookAround()
    {
        HedgedFetch[] fetches;
        lock (_gate)
        {
            _armedFor = null;
            fetches = [.. _watched];
        }

        foreach (var fetch in fetches)
        {
            if (fetch.Look() is { } due)
                Rearm(fetch, due);
        }
    }

    private void Rearm(HedgedFetch fetch, TimeSpan due)
    {
        lock (_gate)
        {
            if (_watched.Contains(fetch))
                Arm(due);
        }
    }

    private void Arm(TimeSpan due)
    {
        if (due < ShortestWait)
            due = ShortestWait;
        var at = _time.GetTimestamp() + (long)(due.TotalSeconds * _time.TimestampFrequency);
        if (_armedFor <= at)
            return;
        _armedFor = at;
        _timer.Change(due, Timeout.InfiniteTimeSpan);
    }
}
