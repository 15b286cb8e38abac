namespace Sluice.Usenet.Nntp.Health;

/// <summary>Completes a task when a provider in cooldown can be used again.</summary>
/// <remarks>Thread-safe. May be set under any lock, because no continuation runs inline.</remarks>
internal sealed class RecoverySignal
{
    private TaskCompletionSource _next = Make();

    public Task Next => Volatile.Read(ref _next).Task;

    public void Set() => Interlocked.Exchange(ref _next, Make()).SetResult();

    private static TaskCompletionSource Make() => new(TaskCreationOptions.RunContinuationsAsynchronously);
}
