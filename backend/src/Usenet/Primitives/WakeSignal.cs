using System.Threading.Channels;

namespace Sluice.Usenet.Primitives;

/// <summary>Wakes the loop of a worker. Several calls before it waits again count as one.</summary>
/// <param name="time">Clock of the longest wait.</param>
/// <remarks>Thread-safe; one loop waits.</remarks>
public sealed class WakeSignal(TimeProvider time)
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
