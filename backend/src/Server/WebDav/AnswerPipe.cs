using System.IO.Pipelines;
using System.Net.Sockets;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav;

/// <summary>The pipe of one answer. A client that takes no bytes for long is given up.</summary>
/// <param name="output">The pipe of the response.</param>
/// <param name="socket">The client's; tells a slow client from one that has stopped. Null where there is none.</param>
/// <param name="direct">The connection's, if it has one: takes the blocks of a stream as they lie. Null where bytes have to be copied.</param>
/// <param name="limit">How long a client may take nothing; infinite for ever.</param>
/// <param name="time">The clock.</param>
/// <param name="aborted">Cancelled when the client leaves.</param>
internal sealed class AnswerPipe(PipeWriter output, Socket? socket, IBlockOutput? direct, TimeSpan limit, TimeProvider time, CancellationToken aborted)
{
    // struct tcp_info of linux/tcp.h: tcpi_bytes_acked, the bytes that the peer has acknowledged.
    private const int TcpInfoOption = 11;
    private const int TcpInfoBytes = 136;
    private const int BytesAcknowledged = 120;

    private long _flushes;

    /// <summary>Rises as long as the client takes bytes.</summary>
    public (long Flushes, long Acknowledged) Progress => (Volatile.Read(ref _flushes), Acknowledged());

    /// <summary>Where to write.</summary>
    public PipeWriter Output => output;

    /// <summary>Writes what a stream has, in one read; the bytes are flushed before the next one.</summary>
    /// <param name="stream">The content.</param>
    /// <param name="most">Most bytes to take.</param>
    /// <param name="room">Memory that is asked for where they are copied.</param>
    /// <param name="cancellationToken">Gives the read up.</param>
    /// <returns>Bytes written; 0 at the end of the stream.</returns>
    public ValueTask<int> TakeAsync(Stream stream, int most, int room, CancellationToken cancellationToken) =>
        direct is not null && stream is ILendingStream lending
            ? LendAsync(lending, direct, most, cancellationToken)
            : CopyAsync(stream, Math.Min(most, room), most, cancellationToken);

    /// <inheritdoc cref="IBlockOutput.ExpectMuch"/>
    public void ExpectMuch(bool isLong) => direct?.ExpectMuch(isLong);

    /// <summary>Flushes the written bytes, and waits while too many of them are unsent.</summary>
    /// <returns>False when the client has left, or takes no bytes.</returns>
    public async ValueTask<bool> FlushAsync()
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
                // A slow client still acknowledges bytes, however long the flush takes.
                var now = Acknowledged();
                if (now == before)
                    return false;
                before = now;
            }
        }
    }

    private async ValueTask<int> LendAsync(ILendingStream stream, IBlockOutput to, int most, CancellationToken cancellationToken)
    {
        try
        {
            var read = await stream.LendAsync(to.Loan, most, cancellationToken);
            to.WriteLoan(output);
            return read;
        }
        catch
        {
            to.Loan.Return();
            throw;
        }
    }

    private async ValueTask<int> CopyAsync(Stream stream, int room, int most, CancellationToken cancellationToken)
    {
        var memory = output.GetMemory(room);
        var read = await stream.ReadAsync(memory.Length > most ? memory[..most] : memory, cancellationToken);
        output.Advance(read);
        return read;
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
