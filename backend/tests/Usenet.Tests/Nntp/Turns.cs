namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// Whatever goes on asynchronously goes on here, one thing after the other, on the thread that has made this. A model whose every event
/// runs here does the same again for the same seed.
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

    /// <summary>Runs all that is due, and what becomes due by that.</summary>
    public void Run()
    {
        while (_due.TryDequeue(out var turn))
            turn.Callback(turn.State);
    }
}
