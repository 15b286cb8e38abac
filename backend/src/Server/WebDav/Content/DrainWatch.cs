namespace Sluice.Server.WebDav.Content;

/// <summary>
/// During shutdown, resets a response that makes no progress, because a paused player or a wait for a provider would delay the exit. A response that is still
/// sending may use the whole shutdown timeout (DAV-76).
/// </summary>
/// <remarks><c>_gate</c> orders the timer before or after the end of the response, because afterwards the connection belongs to the next request.</remarks>
internal sealed class DrainWatch : IAsyncDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly ClientProgress _client;
    private readonly Action _abort;
    private readonly TimeProvider _time;
    private readonly CancellationTokenRegistration _registration;
    private ITimer? _timer;
    private bool _hasEnded;
    private (long Flushes, long Acknowledged) _seen;

    public DrainWatch(ClientProgress client, Action abort, TimeProvider time, CancellationToken stopping)
    {
        (_client, _abort, _time) = (client, abort, time);
        _registration = stopping.UnsafeRegister(static watch => ((DrainWatch)watch!).Begin(), this);
    }

    public async ValueTask DisposeAsync()
    {
        lock (_gate)
            _hasEnded = true;

        // Waits for a running Begin, so that a timer created there is visible here.
        await _registration.DisposeAsync();
        if (_timer is not null)
            await _timer.DisposeAsync();
    }

    private void Begin()
    {
        _seen = _client.Snapshot();
        _timer = _time.CreateTimer(static watch => ((DrainWatch)watch!).AbortIfIdle(), this, Interval, Interval);
    }

    private void AbortIfIdle()
    {
        lock (_gate)
        {
            if (_hasEnded)
                return;
            var before = _seen;
            _seen = _client.Snapshot();
            if (_seen != before)
                return;
            _hasEnded = true;
            _abort();
        }
    }
}
