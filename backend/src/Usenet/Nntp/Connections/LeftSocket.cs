using System.Diagnostics.CodeAnalysis;
using System.Net.Sockets;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Wire;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// A socket that the pool closed in the middle of a reply or login. The server may still count it, so it keeps its slot until the server closes too, or until a
/// time limit. Only the sending side is closed, because a reset would hide the server's close. If the server keeps sending, the socket is reset.
/// </summary>
/// <remarks>Used under the lock of the pool, except <see cref="WaitAsync"/>, which runs once without it.</remarks>
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "The source holds neither a timer nor a handle.")]
internal sealed class LeftSocket(Socket socket, SharedResources shared) : LeftPlace(shared.Time.GetTimestamp())
{
    // Bytes that may have been in transit when the sending side closed. A server that sends more has not stopped.
    private const int MostOnItsWay = 4 * 1024;

    private readonly CancellationTokenSource _release = new();
    private long _received;
    private volatile bool _isReset;

    public override bool IsReset => _isReset;

    /// <summary>Completes when the slot is free; never fails. <paramref name="resetsHelp"/> tells whether the server notices only resets.</summary>
    /// <returns>Number of bytes that arrived after the sending side was closed, including any TLS overhead.</returns>
    public async Task<long> WaitAsync(Func<bool> resetsHelp, CancellationToken disposing)
    {
        var options = shared.Options;
        using var limit = new CancellationTokenSource(options.CloseLimit, shared.Time);
        using var end = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, disposing, _release.Token);
        try
        {
            var seen = await DrainAsync(options.CloseGrace, end.Token);
            if (seen == Seen.Nothing && !resetsHelp())
                seen = await DrainAsync(null, end.Token);
            WasSeen = seen == Seen.Close;
            if (WasSeen)
                return Volatile.Read(ref _received);
            if (_isReset)
                await Task.Delay(Timeout.InfiniteTimeSpan, shared.Time, end.Token);
            DropUnread();
            await Task.Delay(options.CloseGrace, shared.Time, end.Token);
        }
        catch (OperationCanceledException)
        {
            // The wait ends at the limit, when the pool closes, or when a dial has shown that the server no longer counts the socket.
        }
        finally
        {
            DropUnread();
        }

        return Volatile.Read(ref _received);
    }

    public override void Reset()
    {
        _isReset = true;
        DropUnread();
    }

    public override void Release() => _release.Cancel();

    private async Task<Seen> DrainAsync(TimeSpan? patience, CancellationToken cancellationToken)
    {
        using var patient = patience is { } time ? new CancellationTokenSource(time, shared.Time) : new CancellationTokenSource();
        using var either = CancellationTokenSource.CreateLinkedTokenSource(patient.Token, cancellationToken);
        var waste = new byte[MostOnItsWay];
        try
        {
            for (var received = 0; received <= MostOnItsWay;)
            {
                var count = await socket.ReceiveAsync(waste, SocketFlags.None, either.Token);
                if (count == 0)
                    return Seen.Close;
                received += count;
                Interlocked.Add(ref _received, count);
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

    // Counted, because the provider has sent these bytes.
    private void DropUnread()
    {
        Interlocked.Add(ref _received, socket.Unread());
        socket.Reset();
    }

    /// <summary>The server's reaction to the closed sending side.</summary>
    private enum Seen
    {
        Nothing,
        Close,
        Bytes,
    }
}
