using System.Threading.Channels;

namespace Sluice.Usenet.Primitives;

/// <summary>Wakes a worker's loop. Only one caller may wait at a time. Calls of <see cref="Set"/> between two waits count as one. Thread-safe.</summary>
public sealed class WakeSignal(TimeProvider time)
{
    private readonly Channel<bool> _signal = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite, SingleReader = true });

    public void Set() => _signal.Writer.TryWrite(true);

    /// <summary>Waits for the next <see cref="Set"/>, or until <paramref name="longest"/> has passed; null for no limit.</summary>
    /// <remarks>Returns at once if <see cref="Set"/> was called since the last wait.</remarks>
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
            // The timeout has passed.
        }
    }
}
