using System.IO.Pipelines;
using System.Net.Sockets;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav;

/// <summary>
/// Writes the body of one response. Gives up when the client has taken no bytes for <paramref name="limit"/>, which may be infinite.
/// </summary>
/// <remarks>
/// The socket shows whether a slow client still acknowledges bytes, so that it is not mistaken for a stopped one. If <paramref name="direct"/> is
/// set, blocks of a stream are sent without a copy. Both may be null.
/// </remarks>
internal sealed class AnswerPipe(PipeWriter output, Socket? socket, IBlockOutput? direct, TimeSpan limit, TimeProvider time, CancellationToken aborted)
{
    // struct tcp_info of linux/tcp.h: tcpi_bytes_acked, the bytes that the peer has acknowledged.
    private const int TcpInfoOption = 11;
    private const int TcpInfoBytes = 136;
    private const int BytesAcknowledged = 120;

    private long _flushes;

    /// <summary>Grows while the client takes bytes.</summary>
    public (long Flushes, long Acknowledged) Progress => (Volatile.Read(ref _flushes), Acknowledged());

    public PipeWriter Output => output;

    /// <summary>Writes the result of one read of a stream. The caller flushes it before the next read.</summary>
    /// <param name="stream">The content.</param>
    /// <param name="most">Maximum bytes to take.</param>
    /// <param name="room">Buffer size if the bytes have to be copied.</param>
    /// <param name="cancellationToken">Cancels the read.</param>
    /// <returns>Bytes written; 0 at the end of the stream.</returns>
    public ValueTask<int> TakeAsync(Stream stream, int most, int room, CancellationToken cancellationToken) =>
        direct is not null && stream is ILendingStream lending
            ? LendAsync(lending, direct, most, cancellationToken)
            : CopyAsync(stream, Math.Min(most, room), most, cancellationToken);

    /// <inheritdoc cref="IBlockOutput.ExpectMuch"/>
    public void ExpectMuch(bool isLong) => direct?.ExpectMuch(isLong);

    /// <summary>
    /// Flushes the written bytes and waits while too many are unsent. Returns false if the client has left or stopped taking bytes.
    /// </summary>
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
                // A slow client still acknowledges bytes, however long the flush takes, so only a standstill counts as a timeout.
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
