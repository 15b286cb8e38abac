using System.IO.Pipelines;
using System.Net.Sockets;

namespace Sluice.Server.WebDav.Content;

/// <summary>Detects a client that stopped reading. A flush fails if no byte was read for <paramref name="limit"/>, which may be infinite.</summary>
/// <remarks>The socket may be null. Its acknowledged bytes distinguish a slow client from one that stopped.</remarks>
internal sealed class ClientProgress(Socket? socket, TimeSpan limit, TimeProvider time, CancellationToken aborted)
{
    // struct tcp_info in linux/tcp.h: tcpi_bytes_acked counts the bytes that the peer has acknowledged.
    private const int TcpInfoOption = 11;
    private const int TcpInfoBytes = 136;
    private const int BytesAcknowledged = 120;

    private long _flushes;

    /// <summary>Returns two counters that increase while the client reads.</summary>
    public (long Flushes, long Acknowledged) Snapshot() => (Volatile.Read(ref _flushes), Acknowledged());

    /// <summary>Flushes written bytes and waits for backpressure. Returns false if the client has left or stopped reading.</summary>
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
                // A slow client still acknowledges bytes, however long the flush takes. Time out only if the count does not increase.
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
            // The connection is closed, and the pending flush reports that.
            return 0;
        }
    }
}
