namespace Sluice.Server.WebDav;

/// <summary>
/// Resets an answer that sends nothing while the process ends: its player is paused, or waits for a provider, and would hold up the exit for
/// nothing. One that sends has the time of the listener (DAV-76).
/// </summary>
/// <remarks><c>_gate</c> orders the timer and the end of the answer, behind which its request belongs to another.</remarks>
internal sealed class DrainWatch : IAsyncDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly AnswerPipe _answer;
    private readonly Action _abort;
    private readonly TimeProvider _time;
    private readonly CancellationTokenRegistration _registration;
    private ITimer? _timer;
    private bool _hasEnded;
    private (long Flushes, long Acknowledged) _seen;

    /// <param name="answer">The answer.</param>
    /// <param name="abort">Resets its connection.</param>
    /// <param name="time">Clock.</param>
    /// <param name="stopping">Cancelled when the process begins to end.</param>
    public DrainWatch(AnswerPipe answer, Action abort, TimeProvider time, CancellationToken stopping)
    {
        (_answer, _abort, _time) = (answer, abort, time);
        _registration = stopping.UnsafeRegister(static watch => ((DrainWatch)watch!).Begin(), this);
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        lock (_gate)
            _hasEnded = true;

        // A beginning that runs just now has made its timer when this has ended.
        await _registration.DisposeAsync();
        if (_timer is not null)
            await _timer.DisposeAsync();
    }

    private void Begin()
    {
        _seen = _answer.Progress;
        _timer = _time.CreateTimer(static watch => ((DrainWatch)watch!).Look(), this, Interval, Interval);
    }

    private void Look()
    {
        lock (_gate)
        {
            if (_hasEnded)
                return;
            var before = _seen;
            _seen = _answer.Progress;
            if (_seen != before)
                return;
            _hasEnded = true;
            _abort();
        }
    }
}
