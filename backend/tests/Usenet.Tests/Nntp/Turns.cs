namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// Runs all asynchronous continuations one after the other, on the thread that created it. A model that runs entirely here behaves the
/// same for the same seed.
/// </summary>
internal sealed class Turns : SynchronizationContext
{
    private readonly Queue<(SendOrPostCallback Callback, object? State)> _due = new();
    private readonly int _thread = Environment.CurrentManagedThreadId;

    public override void Post(SendOrPostCallback d, object? state)
    {
        if (Environment.CurrentManagedThreadId != _thread)
            throw new InvalidOperationException("The model has left its thread.");
        _due.Enqueue((d, state));
    }

    public override SynchronizationContext CreateCopy() => this;

    /// <summary>Runs all due continuations, including those that become due meanwhile.</summary>
    public void Run()
    {
        while (_due.TryDequeue(out var turn))
            turn.Callback(turn.State);
    }
}
