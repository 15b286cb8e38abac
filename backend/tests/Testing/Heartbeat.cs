namespace Sluice.Testing;

/// <summary>
/// A clock that stops while the process is not scheduled: it beats every 10 ms and subtracts the delay of each late beat. Tests measure
/// deadlines by it, so that a machine busy with other work does not fail them. Thread-safe.
/// </summary>
public sealed class Heartbeat : IAsyncDisposable
{
    private static readonly TimeSpan Beat = TimeSpan.FromMilliseconds(10);

    private readonly CancellationTokenSource _ended = new();
    private readonly Task _beating;
    private readonly long _start = TimeProvider.System.GetTimestamp();
    private long _last;
    private long _missed;

    public Heartbeat()
    {
        _last = _start;
        _beating = BeatAsync();
    }

    /// <summary>Time that the process has run.</summary>
    public TimeSpan Now
    {
        get
        {
            // Subtracts the delay of a beat that is overdue now.
            var now = TimeProvider.System.GetTimestamp();
            var overdue = TimeProvider.System.GetElapsedTime(Volatile.Read(ref _last), now) - Beat;
            var missed = TimeSpan.FromTicks(Volatile.Read(ref _missed)) + (overdue > TimeSpan.Zero ? overdue : TimeSpan.Zero);
            return TimeProvider.System.GetElapsedTime(_start, now) - missed;
        }
    }

    /// <summary>Time that the process has run since <paramref name="then"/>.</summary>
    public TimeSpan Since(TimeSpan then) => Now - then;

    public async ValueTask DisposeAsync()
    {
        await _ended.CancelAsync();
        await _beating;
        _ended.Dispose();
    }

    private async Task BeatAsync()
    {
        using var timer = new PeriodicTimer(Beat, TimeProvider.System);
        try
        {
            while (await timer.WaitForNextTickAsync(_ended.Token))
            {
                var now = TimeProvider.System.GetTimestamp();
                var late = TimeProvider.System.GetElapsedTime(_last, now) - Beat;
                if (late > TimeSpan.Zero)
                    Volatile.Write(ref _missed, _missed + late.Ticks);
                Volatile.Write(ref _last, now);
            }
        }
        catch (OperationCanceledException)
        {
            // Disposed.
        }
    }
}
