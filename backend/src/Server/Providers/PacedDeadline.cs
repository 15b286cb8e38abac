namespace Sluice.Server.Providers;

/// <summary>Cancels work that makes no progress. Waits for the bandwidth limit do not count, because such work is only slow.</summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the time of the last progress, so that a late timer does not cancel continuing work. The lock of the limiter is
/// taken inside it.
/// </remarks>
internal sealed class PacedDeadline : IAsyncDisposable
{
    private readonly Lock _gate = new();
    private readonly CancellationTokenSource _cancel = new();
    private readonly TimeProvider _time;
    private readonly Func<TimeSpan> _sincePaced;
    private readonly ITimer _timer;
    private TimeSpan _limit;
    private long _since;

    /// <summary>Starts the deadline. Calls <paramref name="sincePaced"/> when the limit seems to have expired.</summary>
    public PacedDeadline(TimeSpan limit, TimeProvider time, Func<TimeSpan> sincePaced)
    {
        (_limit, _time, _sincePaced, _since) = (limit, time, sincePaced, time.GetTimestamp());
        _timer = time.CreateTimer(static deadline => ((PacedDeadline)deadline!).CheckLimit(), this, limit, Timeout.InfiniteTimeSpan);
    }

    public CancellationToken Token => _cancel.Token;

    /// <summary>Reports progress, which restarts the deadline with a new limit.</summary>
    public void Restart(TimeSpan limit)
    {
        lock (_gate)
        {
            (_limit, _since) = (limit, _time.GetTimestamp());
            _timer.Change(limit, Timeout.InfiniteTimeSpan);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _timer.DisposeAsync();
        _cancel.Dispose();
    }

    private void CheckLimit()
    {
        lock (_gate)
        {
            var (waited, paced) = (_time.GetElapsedTime(_since), _sincePaced());
            var rest = _limit - (paced < waited ? paced : waited);
            if (rest > TimeSpan.Zero)
            {
                _timer.Change(rest, Timeout.InfiniteTimeSpan);
                return;
            }
        }

        _cancel.Cancel();
    }
}
