namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>Signals when a listener must check its gate again: the settings changed, a fault began or ended, or the mock stops.</summary>
internal sealed class GateChange : IDisposable
{
    private readonly CancellationTokenSource _signal;
    private readonly ITimer? _timer;

    public GateChange(ProviderState provider, CancellationToken stopping)
    {
        _signal = CancellationTokenSource.CreateLinkedTokenSource(stopping, provider.Changed);
        var now = provider.Clock.SinceStart;
        if (provider.Plan.NextGateChange(now) is { } next)
        {
            _timer = provider.Clock.Provider.CreateTimer(_ => Signal(), null, next - now, Timeout.InfiniteTimeSpan);

            // Check again, because a test clock may have jumped past the time before the timer was set.
            if (provider.Clock.SinceStart >= next)
                Signal();
        }
    }

    public CancellationToken Token => _signal.Token;

    public async Task WaitAsync()
    {
        var changed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var registration = _signal.Token.Register(changed.SetResult);
        await changed.Task;
    }

    private void Signal()
    {
        try
        {
            _signal.Cancel();
        }
        catch (ObjectDisposedException)
        {
            // Ignored, because the timer fired during disposal, when the wait had already ended.
        }
    }

    public void Dispose()
    {
        _timer?.Dispose();
        _signal.Dispose();
    }
}
