using System.Threading.Tasks.Sources;

namespace Sluice.Usenet.Primitives;

/// <summary>Lets one waiter at a time wait for a notification without allocating. Any thread may set the signal; each wait resets it.</summary>
/// <remarks>The waiter resumes on a pool thread, never inside <see cref="Set"/>.</remarks>
internal sealed class AsyncSignal : IValueTaskSource
{
    private const int Quiet = 0;
    private const int Awaited = 1;
    private const int Pending = 2;

    private ManualResetValueTaskSourceCore<bool> _core = new() { RunContinuationsAsynchronously = true };

    // Quiet → Awaited by the waiter; Quiet → Pending and Awaited → Quiet by setters; Pending → Quiet by the waiter.
    // Every step is one interlocked exchange, so a notification is either seen before waiting or ends the wait. A plain write of Quiet would not do: the waiter
    // could look for work before another thread sees that write, and that thread's Set would still find Pending and wake no waiter.
    private int _state;

    public void Set()
    {
        if (Interlocked.CompareExchange(ref _state, Pending, Quiet) == Quiet)
            return;
        if (Interlocked.CompareExchange(ref _state, Quiet, Awaited) == Awaited)
            _core.SetResult(true);
    }

    /// <summary>Completes at once if <see cref="Set"/> was called since the last wait, otherwise when it is next called.</summary>
    public ValueTask WaitAsync()
    {
        _core.Reset();
        if (Interlocked.CompareExchange(ref _state, Awaited, Quiet) == Quiet)
            return new ValueTask(this, _core.Version);
        Interlocked.Exchange(ref _state, Quiet);
        return ValueTask.CompletedTask;
    }

    void IValueTaskSource.GetResult(short token) => _core.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);
}
