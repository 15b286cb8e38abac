namespace Sluice.Server.WebDav.Content;

/// <summary>Cancels a wait that exceeds its timeout. Time throttled by the bandwidth limit does not count toward the timeout.</summary>
/// <remarks>The timer may fire after the next wait has begun, so it always checks the current wait.</remarks>
internal sealed class BodyDeadline : IAsyncDisposable
{
    private readonly CancellationTokenSource _cancel = new();
    private readonly TimeProvider _time;
    private readonly Func<TimeSpan> _sincePaced;
    private readonly ITimer _timer;

    private const long None = long.MinValue;

    // _since is a timestamp and _limit is in ticks. Begin writes _limit first, because the timer reads both. If time is left, for example after a Restart, the
    // timer reschedules itself.
    private long _limit;
    private long _since = None;

    public BodyDeadline(TimeProvider time, Func<TimeSpan> sincePaced)
    {
        (_time, _sincePaced) = (time, sincePaced);
        _timer = time.CreateTimer(static deadline => ((BodyDeadline)deadline!).OnTimer(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    public CancellationToken Token => _cancel.Token;

    public void Begin(TimeSpan limit)
    {
        Volatile.Write(ref _limit, limit.Ticks);
        Volatile.Write(ref _since, _time.GetTimestamp());
        _timer.Change(limit, Timeout.InfiniteTimeSpan);
    }

    public void End()
    {
        Volatile.Write(ref _since, None);
        _timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Restarts the timeout because the wait made progress. Does nothing after the wait ended.</summary>
    public void Restart()
    {
        if (Volatile.Read(ref _since) is var since and not None)
            Interlocked.CompareExchange(ref _since, _time.GetTimestamp(), since);
    }

    public void Cancel() => _cancel.Cancel();

    public async ValueTask DisposeAsync()
    {
        await _timer.DisposeAsync();
        _cancel.Dispose();
    }

    private void OnTimer()
    {
        var since = Volatile.Read(ref _since);
        if (since == None)
            return;
        var (waited, paced) = (_time.GetElapsedTime(since), _sincePaced());
        var rest = TimeSpan.FromTicks(Volatile.Read(ref _limit)) - (paced < waited ? paced : waited);
        if (rest > TimeSpan.Zero)
            _timer.Change(rest, Timeout.InfiniteTimeSpan);
        else
            _cancel.Cancel();
    }
}
