using System.Threading.Channels;

namespace Sluice.Server.Queue;

/// <summary>Wakes the worker when the queue may hold something new. Signals that meet become one.</summary>
internal sealed class QueueSignal
{
    private readonly Channel<bool> _channel = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite, SingleReader = true });

    /// <summary>There may be something to do.</summary>
    public void Set() => _channel.Writer.TryWrite(true);

    /// <summary>Completes at the next signal, or at once after one that nobody has waited for.</summary>
    public ValueTask<bool> WaitAsync(CancellationToken cancellationToken) => _channel.Reader.ReadAsync(cancellationToken);
}
