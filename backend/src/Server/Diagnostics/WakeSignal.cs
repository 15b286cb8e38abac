using System.Threading.Channels;

namespace Sluice.Server.Diagnostics;

/// <summary>Wakes the loop of a worker. Several calls before it looks are one.</summary>
/// <remarks>Thread-safe; one loop waits.</remarks>
internal sealed class WakeSignal(TimeProvider time)
{
    private readonly Channel<bool> _signal = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite, SingleReader = true });

    /// <summary>Wakes the loop.</summary>
    public void Set() => _signal.Writer.TryWrite(true);

    /// <summary>Completes at the next call of <see cref="Set"/>, at once when one came since the last wait, or when the time is over.</summary>
    /// <param name="longest">Null: no time.</param>
    /// <param name="cancellationToken">Gives up.</param>
    public async Task WaitAsync(TimeSpan? longest, CancellationToken cancellationToken)
    {
        using var due = longest is { } after ? new CancellationTokenSource(after, time) : new CancellationTokenSource();
        using var wait = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, due.Token);
        try
        {
            await _signal.Reader.ReadAsync(wait.Token);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            // The time is over.
        }
    }
}
