namespace Sluice.Usenet.Nntp.Health;

/// <summary>Completes a task when a provider that was left alone can be used again.</summary>
/// <remarks>Thread-safe. May be set under any lock, because no continuation runs inside.</remarks>
internal sealed class RecoverySignal
{
    private TaskCompletionSource _next = Make();

    /// <summary>Completes at the next recovery.</summary>
    public Task Next => Volatile.Read(ref _next).Task;

    /// <summary>A provider has recovered.</summary>
    public void Set() => Interlocked.Exchange(ref _next, Make()).SetResult();

    private static TaskCompletionSource Make() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
