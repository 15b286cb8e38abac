using System.IO.Pipelines;
using System.Net.Sockets;

namespace Sluice.Server.WebDav;

/// <summary>The pipe of one answer. A client that takes no bytes for long is given up.</summary>
/// <param name="output">The pipe of the response.</param>
/// <param name="socket">The client's; tells a slow client from one that has stopped. Null where there is none.</param>
/// <param name="limit">How long a client may take nothing; infinite for ever.</param>
/// <param name="time">The clock.</param>
/// <param name="aborted">Cancelled when the client leaves.</param>
internal sealed class AnswerPipe(PipeWriter output, Socket? socket, TimeSpan limit, TimeProvider time, CancellationToken aborted)
{
    // struct tcp_info of linux/tcp.h: tcpi_bytes_acked, the bytes that the peer has acknowledged.
    private const int TcpInfoOption = 11;
    private const int TcpInfoBytes = 136;
    private const int BytesAcknowledged = 120;

    /// <summary>Where to write.</summary>
    public PipeWriter Output => output;

    /// <summary>Flushes the written bytes, and waits while too many of them are unsent.</summary>
    /// <returns>False when the client has left, or takes no bytes.</returns>
    public async ValueTask<bool> FlushAsync()
    {
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
                // A slow client still acknowledges bytes, however long the flush takes.
                var now = Acknowledged();
                if (now == before)
                    return false;
                before = now;
            }
        }
    }

    /// <summary>Bytes that the client's system has acknowledged; 0 where this system does not tell.</summary>
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
            // The connection is closed, which the flush is about to say.
            return 0;
        }
    }
}
