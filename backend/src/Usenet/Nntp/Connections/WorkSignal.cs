using System.Threading.Tasks.Sources;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// Wakes the one loop that waits for its next piece of work, on the thread that brings it and without allocating. Set again only
/// after that work has ended, though the loop may not have come back to wait for more by then.
/// </summary>
internal sealed class WorkSignal : IValueTaskSource
{
    private const int Quiet = 0;
    private const int Awaited = 1;
    private const int Pending = 2;

    private ManualResetValueTaskSourceCore<bool> _core;

    // Quiet → Awaited by the loop; Quiet → Pending and Awaited → Quiet by the setter; Pending → Quiet by the loop.
    // Every step is one interlocked exchange, so work is either seen before waiting or ends the wait.
    private int _state;

    /// <summary>There is work. The loop goes on in here if it waits.</summary>
    public void Set()
    {
        if (Interlocked.CompareExchange(ref _state, Pending, Quiet) == Quiet)
            return;
        Volatile.Write(ref _state, Quiet);
        _core.SetResult(true);
    }

    /// <summary>Ends at once when there is work already, else with the next.</summary>
    public ValueTask WaitAsync()
    {
        _core.Reset();
        if (Interlocked.CompareExchange(ref _state, Awaited, Quiet) == Quiet)
            return new ValueTask(this, _core.Version);
        Volatile.Write(ref _state, Quiet);
        return ValueTask.CompletedTask;
    }

    void IValueTaskSource.GetResult(short token) => _core.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);
}
