using System.Threading.Tasks.Sources;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// What ends once and is awaited once: by the thread that ends it, or by another where that thread must not go on. Leases and replies are
/// made for each article and derive from this, so that waiting for them costs no further object.
/// </summary>
/// <remarks>Ended once, by one thread.</remarks>
internal abstract class Completion<T> : IValueTaskSource<T>, IValueTaskSource
{
    private ManualResetValueTaskSourceCore<T> _core;

    protected short Version => _core.Version;

    /// <summary>Ends the wait well.</summary>
    /// <param name="result">What the waiter receives.</param>
    /// <param name="inline">Whether what waits for it goes on in this call.</param>
    protected void End(T result, bool inline)
    {
        _core.RunContinuationsAsynchronously = !inline;
        _core.SetResult(result);
    }

    /// <summary>Ends the wait by a failure. The calling thread holds locks, or has others to tell: what waits goes on on another.</summary>
    protected void End(Exception failure)
    {
        _core.RunContinuationsAsynchronously = true;
        _core.SetException(failure);
    }

    T IValueTaskSource<T>.GetResult(short token) => _core.GetResult(token);

    void IValueTaskSource.GetResult(short token) => _core.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<T>.GetStatus(short token) => _core.GetStatus(token);

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource<T>.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);
}
