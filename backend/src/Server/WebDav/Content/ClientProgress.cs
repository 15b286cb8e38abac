using System.IO.Pipelines;
using System.Net.Sockets;

namespace Sluice.Server.WebDav.Content;

/// <summary>
/// Whether the client of one response still takes bytes. A flush gives up when the client has taken none for <paramref name="limit"/>, which may be
/// infinite.
/// </summary>
/// <remarks>
/// The socket, which may be null, shows whether a slow client still acknowledges bytes, so that it is not mistaken for a stopped one.
/// </remarks>
internal sealed class ClientProgress(Socket? socket, TimeSpan limit, TimeProvider time, CancellationToken aborted)
{
    // struct tcp_info of linux/tcp.h: tcpi_bytes_acked, the bytes that the peer has acknowledged.
    private const int TcpInfoOption = 11;
    private const int TcpInfoBytes = 136;
    private const int BytesAcknowledged = 120;

    private long _flushes;

    /// <summary>Returns two counters that grow while the client takes bytes.</summary>
    public (long Flushes, long Acknowledged) Snapshot() => (Volatile.Read(ref _flushes), Acknowledged());

    /// <summary>
    /// Flushes the written bytes and waits while too many are unsent. Returns false if the client has left or stopped taking bytes.
    /// </summary>
    public async ValueTask<bool> FlushAsync(PipeWriter output)
    {
        Volatile.Write(ref _flushes, _flushes + 1);
        var pending = output.FlushAsync(aborted);
        if (limit == Timeout.InfiniteTimeSpan || pending.IsCompleted)
            return !(await pending).IsCompleted;

        var flush = pending.AsTask();
        for (var before = Acknowledged(); ;)
        {
            try
            {
                return !(await flush.WaitAsync(limit, time, aborted)).IsCompleted;
            }
            catch (TimeoutException)
            {
                // A slow client still acknowledges bytes, however long the flush takes, so only a standstill counts as a timeout.
                var now = Acknowledged();
                if (now == before)
                    return false;
                before = now;
            }
        }
    }

    /// <summary>Bytes acknowledged by the client's TCP stack; 0 if the operating system does not report them.</summary>
    private long Acknowledged()
    {
        if (!OperatingSystem.IsLinux() || socket is null)
            return 0;
        try
        {
            Span<byte> state = stackalloc byte[TcpInfoBytes];
            return socket.GetRawSocketOption((int)SocketOptionLevel.Tcp, TcpInfoOption, state) == TcpInfoBytes ? BitConverter.ToInt64(state[BytesAcknowledged..]) : 0;
        }
        catch (Exception failure) when (failure is SocketException or ObjectDisposedException)
        {
            // The connection is closed. The pending flush reports that.
            return 0;
        }
    }
}
