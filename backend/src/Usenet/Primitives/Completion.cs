using System.Threading.Tasks.Sources;

namespace Sluice.Usenet.Primitives;

/// <summary>
/// A single completion, awaited once. The continuation runs on the completing thread if that is allowed, otherwise on a pool thread. Leases and replies derive
/// from this class, so that waiting for an article needs no further allocation.
/// </summary>
/// <remarks>Completed once, by one thread.</remarks>
internal abstract class Completion<T> : IValueTaskSource<T>, IValueTaskSource
{
    private ManualResetValueTaskSourceCore<T> _core;

    protected short Version => _core.Version;

    /// <summary>Completes with a result. If <paramref name="inline"/>, the continuation may run in this call.</summary>
    protected void End(T result, bool inline)
    {
        _core.RunContinuationsAsynchronously = !inline;
        _core.SetResult(result);
    }

    /// <summary>Completes with a failure. The continuation runs on a pool thread, because this thread may hold locks or have other waiters to notify.</summary>
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
