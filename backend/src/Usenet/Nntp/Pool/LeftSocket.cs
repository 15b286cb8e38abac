using System.Diagnostics.CodeAnalysis;
using System.Net.Sockets;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// A socket that the pool has closed in the middle of a reply or of a login. The server counts it until it has noticed, so it keeps its
/// place until the server closes its side too, or until a limit. Only the sending side is closed, because a reset would leave nothing to
/// see the server's close by; a server that goes on sending is reset.
/// </summary>
/// <remarks>Its times and flags are guarded by the lock of the pool; <see cref="WaitAsync"/> runs once and without it.</remarks>
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "The source holds neither a timer nor a handle.")]
internal sealed class LeftSocket
{
    // What was on its way when the sending side was closed; a server that sends more than this has not stopped.
    private const int MostOnItsWay = 4 * 1024;

    private readonly Socket _socket;
    private readonly SharedResources _shared;
    private readonly CancellationTokenSource _release = new();
    private volatile bool _isReset;

    /// <param name="socket">Its sending side is closed; owned.</param>
    /// <param name="shared">Limits and the clock.</param>
    public LeftSocket(Socket socket, SharedResources shared)
    {
        (_socket, _shared) = (socket, shared);
        Since = shared.Time.GetTimestamp();
    }

    /// <summary>When it was closed here, in ticks of the time provider.</summary>
    public long Since { get; }

    /// <summary>When its place became free; null while it is held.</summary>
    public long? FreedAt { get; set; }

    /// <summary>Whether the server has been sent a reset, after which its close cannot be seen.</summary>
    public bool IsReset => _isReset;

    /// <summary>Whether the server was seen to close its side. Written before <see cref="WaitAsync"/> ends.</summary>
    public bool WasSeen { get; private set; }

    /// <summary>Ends when the place is free. Never fails.</summary>
    /// <param name="resetsHelp">Whether this server is known to notice a reset, but not that the sending side was closed.</param>
    /// <param name="disposing">The pool closes: ends at once.</param>
    public async Task WaitAsync(Func<bool> resetsHelp, CancellationToken disposing)
    {
        var options = _shared.Options;
        using var limit = new CancellationTokenSource(options.CloseLimit, _shared.Time);
        using var end = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, disposing, _release.Token);
        try
        {
            var seen = await DrainAsync(options.CloseGrace, end.Token);
            if (seen == Seen.Nothing && !resetsHelp())
                seen = await DrainAsync(null, end.Token);
            WasSeen = seen == Seen.Close;
            if (WasSeen)
                return;
            if (_isReset)
                await Task.Delay(Timeout.InfiniteTimeSpan, _shared.Time, end.Token);
            _socket.Reset();
            await Task.Delay(options.CloseGrace, _shared.Time, end.Token);
        }
        catch (OperationCanceledException)
        {
            // The limit is over, the pool closes, or the server has shown that it has room.
        }
        finally
        {
            _socket.Reset();
        }
    }

    /// <summary>Resets the connection to find out whether the server notices that. The place is held all the same.</summary>
    public void Reset()
    {
        _isReset = true;
        _socket.Reset();
    }

    /// <summary>The server has shown that it does not count the socket any more.</summary>
    public void Release() => _release.Cancel();

    private async Task<Seen> DrainAsync(TimeSpan? patience, CancellationToken cancellationToken)
    {
        using var patient = patience is { } time ? new CancellationTokenSource(time, _shared.Time) : new CancellationTokenSource();
        using var either = CancellationTokenSource.CreateLinkedTokenSource(patient.Token, cancellationToken);
        var waste = new byte[MostOnItsWay];
        try
        {
            for (var received = 0; received <= MostOnItsWay;)
            {
                var count = await _socket.ReceiveAsync(waste, SocketFlags.None, either.Token);
                if (count == 0)
                    return Seen.Close;
                received += count;
            }

            return Seen.Bytes;
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return Seen.Nothing;
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            return _isReset ? Seen.Nothing : Seen.Close;
        }
    }

    /// <summary>What the server has done since the sending side was closed.</summary>
    private enum Seen
    {
        Nothing,
        Close,
        Bytes,
    }
}
