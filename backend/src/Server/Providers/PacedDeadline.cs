namespace Sluice.Server.Providers;

/// <summary>
/// Cancels work that shows no progress for too long. The time in which fetches of its lane wait for the limit of bandwidth is left out: the work
/// is slow then, and has not stopped.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards when the work has last shown progress, and keeps a timer that fires late from cancelling what goes on; the
/// lock of the limiter is taken below it.
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

    /// <param name="limit">Longest time without progress.</param>
    /// <param name="time">Clock.</param>
    /// <param name="sincePaced">For how long no fetch has waited for the limit of bandwidth; zero while one does.</param>
    public PacedDeadline(TimeSpan limit, TimeProvider time, Func<TimeSpan> sincePaced)
    {
        (_limit, _time, _sincePaced, _since) = (limit, time, sincePaced, time.GetTimestamp());
        _timer = time.CreateTimer(static deadline => ((PacedDeadline)deadline!).Look(), this, limit, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Cancelled when the time is over.</summary>
    public CancellationToken Token => _cancel.Token;

    /// <summary>The work has made progress: the time begins anew.</summary>
    /// <param name="limit">Longest time until the next.</param>
    public void Restart(TimeSpan limit)
    {
        lock (_gate)
        {
            (_limit, _since) = (limit, _time.GetTimestamp());
            _timer.Change(limit, Timeout.InfiniteTimeSpan);
        }
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _timer.DisposeAsync();
        _cancel.Dispose();
    }

    private void Look()
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
