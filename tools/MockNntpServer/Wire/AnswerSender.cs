using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>Sends responses with bandwidth limits, packet edges, pauses and single bytes. One sender per connection.</summary>
internal sealed class AnswerSender(Stream stream, ProviderState provider, int connection, SocketCensus.Entry place)
{
    /// <summary>Largest single write, small enough so that the byte counter follows the transfer.</summary>
    private const int MaxWrite = 256 * 1024;

    /// <summary>Gap between packets that must not merge in the client's buffer. It uses the real clock, because the kernel merges them.</summary>
    private static readonly TimeSpan PacketGap = TimeSpan.FromMilliseconds(2);

    private const int ThrottledRate = 100_000;

    private readonly TokenBucket _bucket = new(provider.Clock);
    private bool _isThrottled;
    private volatile TaskCompletionSource? _busy;

    /// <summary>Remaining bytes to write one by one, so that TLS creates one record for each.</summary>
    public int SingleBytes { get; set; }

    /// <summary>Completes when the server may notice a disconnect: at the end of the current response or its pause, or at once if there is none.</summary>
    public Task Noticing => _busy?.Task ?? Task.CompletedTask;

    /// <summary>Sends a complete response. The caller closes the connection if needed.</summary>
    /// <param name="lastBytes">Called just before the last bytes are sent, because the client may react at once; or null.</param>
    /// <exception cref="IOException">The client has disconnected.</exception>
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

        // Notice before the last bytes, because a client that disconnects after a complete response does so between responses.
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
            var most = SingleBytes > 0 ? 1 : provider.Settings.Piece is var piece and > 0 ? piece : MaxWrite;
            var slice = Math.Min(Math.Min(end - sent, most), Math.Min(TokenBucket.SliceFor(all), TokenBucket.SliceFor(each)));
            await _bucket.TakeAsync(slice, each, cancellationToken);
            await provider.Bucket.TakeAsync(slice, all, cancellationToken);

            // Count before sending, so that a client that has read a response finds it in the counters.
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
