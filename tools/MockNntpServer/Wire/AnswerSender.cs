using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>Puts answers on the wire: bandwidth, packet edges, pauses, single bytes. One sender per connection.</summary>
internal sealed class AnswerSender(Stream stream, ProviderState provider, int connection, SocketCensus.Entry place)
{
    /// <summary>Largest single write: large for speed, yet small enough that the count of bytes follows the sending.</summary>
    private const int MaxWrite = 256 * 1024;

    /// <summary>Gap between packets that must not meet in the client's buffer; on the real clock, as it is the kernel's doing.</summary>
    private static readonly TimeSpan PacketGap = TimeSpan.FromMilliseconds(2);

    private const int ThrottledRate = 100_000;

    private readonly TokenBucket _bucket = new(provider.Clock);
    private bool _isThrottled;
    private volatile TaskCompletionSource? _busy;

    /// <summary>Bytes still to be written one by one, so that TLS makes a record of each.</summary>
    public int SingleBytes { get; set; }

    /// <summary>Ends with the answer, or its pause, that keeps the server from noticing that its client has gone; at once while there is none.</summary>
    public Task Noticing => _busy?.Task ?? Task.CompletedTask;

    /// <summary>Sends the answer to its end; what becomes of the connection is the caller's part.</summary>
    /// <param name="answer">The answer.</param>
    /// <param name="lastBytes">Called just before its last bytes go, as the client may act on them at once; or null.</param>
    /// <param name="cancellationToken">Ends it in the middle.</param>
    /// <exception cref="IOException">The client is gone.</exception>
    public async ValueTask SendAsync(Answer answer, Action? lastBytes, CancellationToken cancellationToken)
    {
        if (provider.Settings.NoticesAfter != TimeSpan.Zero)
            (_busy, place.IsUnnoticed) = (new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously), true);
        try
        {
            await SendPiecesAsync(answer, lastBytes, cancellationToken);
        }
        finally
        {
            Notice();
        }
    }

    private async ValueTask SendPiecesAsync(Answer answer, Action? lastBytes, CancellationToken cancellationToken)
    {
        var sent = 0;
        foreach (var edge in answer.PacketEdges)
        {
            sent = await SendUntilAsync(answer, lastBytes, sent, edge, cancellationToken);
            await Task.Delay(PacketGap, TimeProvider.System, cancellationToken);
        }

        if (answer.PauseAt is { } pause)
        {
            sent = await SendUntilAsync(answer, lastBytes, sent, pause, cancellationToken);
            await provider.Clock.DelayAsync(answer.Pause, cancellationToken);
            Notice();
        }

        if (answer.TrickleFrom is { } trickle)
        {
            sent = await SendUntilAsync(answer, lastBytes, sent, trickle, cancellationToken);
            while (sent < answer.Bytes.Length)
            {
                await provider.Clock.DelayAsync(answer.TricklePause, cancellationToken);
                sent = await SendUntilAsync(answer, lastBytes, sent, sent + 1, cancellationToken);
            }
        }

        // A client that goes because it has read all of an answer goes between answers.
        await SendUntilAsync(answer, _busy is null ? lastBytes : lastBytes + Notice, sent, answer.Bytes.Length, cancellationToken);
    }

    private void Notice()
    {
        place.IsUnnoticed = false;
        _busy?.TrySetResult();
    }

    private async ValueTask<int> SendUntilAsync(Answer answer, Action? lastBytes, int sent, int end, CancellationToken cancellationToken)
    {
        end = Math.Min(end, answer.Bytes.Length);
        while (sent < end)
        {
            var (all, each) = (provider.Settings.Bandwidth, Throttled() ?? provider.Settings.ConnectionBandwidth);
            var slice = Math.Min(Math.Min(end - sent, SingleBytes > 0 ? 1 : MaxWrite), Math.Min(TokenBucket.SliceFor(all), TokenBucket.SliceFor(each)));
            await _bucket.TakeAsync(slice, each, cancellationToken);
            await provider.Bucket.TakeAsync(slice, all, cancellationToken);

            // Counted before they go, so that a client that has read an answer finds it in the counters.
            provider.Stats.BytesSent(slice);
            if (sent + slice == answer.Bytes.Length)
                lastBytes?.Invoke();
            await stream.WriteAsync(answer.Bytes.Slice(sent, slice), cancellationToken);
            sent += slice;
            SingleBytes = Math.Max(0, SingleBytes - slice);
        }

        return Math.Max(sent, end);
    }

    private long? Throttled()
    {
        if (provider.Regime(FaultKind.PolicyThrottle, connection) is not { } throttle)
            return null;
        if (!_isThrottled)
            provider.Stats.FaultHappened(FaultKind.PolicyThrottle);
        _isThrottled = true;
        return throttle.Limit ?? ThrottledRate;
    }
}
