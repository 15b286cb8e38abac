using System.Buffers;
using System.IO.Pipelines;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Listening;

/// <summary>
/// Sends the bytes of a connection without TLS, replacing the transport's pipe and send loop. Each flush is one system call, and lent stream blocks are sent
/// without copying. All bytes go through this class, so that they stay in order. Like any pipe, it serves one caller at a time, who must await each flush. A
/// flush ends once the system has accepted the bytes or the connection has failed. A response that does not await its flush aborts the connection. Lent blocks
/// are returned only when the flush ends, even if the response was abandoned.
/// </summary>
internal sealed class SocketOutput : PipeWriter, IDuplexPipe, IBlockOutput
{
    private const int SmallestBuffer = 4 << 10;

    // TCP_NOTSENT_LOWAT (linux/tcp.h) limits unsent bytes in the kernel: low at first, because a client may only probe, and higher later.
    private const int NotSentLowWater = 25;
    private const int UnsentOfStart = 64 << 10;
    private const int UnsentOfRest = 2 << 20;

    private readonly ConnectionContext _connection;
    private readonly IDuplexPipe _transport;
    private readonly Socket _socket;
    private readonly List<ArraySegment<byte>> _unsent = [];
    private readonly List<byte[]> _buffers = [];
    private int _used;
    private long _unsentBytes;
    private ArraySegment<byte> _offered;
    private bool _isOfferTaken;
    private bool _isGone;
    private bool _isCanceled;

    // The last flush that did not complete immediately.
    private Task _flush = Task.CompletedTask;

    private SocketOutput(ConnectionContext connection, Socket socket) =>
        (_connection, _transport, _socket) = (connection, connection.Transport, socket);

    public BlockLoan Loan { get; } = new();

    public PipeReader Input => _transport.Input;

    public PipeWriter Output => this;

    public override bool CanGetUnflushedBytes => true;

    public override long UnflushedBytes => _unsentBytes;

    /// <summary>Adds this output to a connection handler.</summary>
    public static ConnectionDelegate Serve(ConnectionDelegate next) => connection =>
        connection.Features.Get<IConnectionSocketFeature>()?.Socket is { } socket ? new SocketOutput(connection, socket).RunAsync(next) : next(connection);

    /// <summary>Limits unsent bytes in the kernel for all sockets accepted by a listener.</summary>
    public static void BoundUnsent(Socket listener) => BoundUnsent(listener, UnsentOfStart);

    public void ExpectMuch(bool isLong)
    {
        try
        {
            BoundUnsent(_socket, isLong ? UnsentOfRest : UnsentOfStart);
        }
        catch (Exception failure) when (failure is SocketException or ObjectDisposedException)
        {
            // The connection is closed, and the next flush reports that.
        }
    }

    public void WriteLoan(PipeWriter response)
    {
        foreach (var block in Loan.Blocks)
        {
            _offered = block;
            var memory = response.GetMemory(block.Count);
            if (!_isOfferTaken)
            {
                _offered = default;
                block.AsMemory().CopyTo(memory);
            }

            response.Advance(block.Count);
        }
    }

    public override Memory<byte> GetMemory(int sizeHint = 0)
    {
        _isOfferTaken = _offered.Count > 0 && sizeHint <= _offered.Count;
        if (_isOfferTaken)
            return _offered;
        if (_buffers.Count == 0 || _buffers[^1].Length - _used < Math.Max(sizeHint, 1))
        {
            _buffers.Add(ArrayPool<byte>.Shared.Rent(Math.Max(sizeHint, SmallestBuffer)));
            _used = 0;
        }

        return _buffers[^1].AsMemory(_used);
    }

    public override Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    public override void Advance(int bytes)
    {
        if (_isOfferTaken)
        {
            _unsent.Add(_offered[..bytes]);
            (_offered, _isOfferTaken) = (default, false);
        }
        else if (bytes > 0)
        {
            var buffer = _buffers[^1];
            if (_unsent.Count > 0 && _unsent[^1] is var last && last.Array == buffer && last.Offset + last.Count == _used)
                _unsent[^1] = new ArraySegment<byte>(buffer, last.Offset, last.Count + bytes);
            else
                _unsent.Add(new ArraySegment<byte>(buffer, _used, bytes));
            _used += bytes;
        }

        _unsentBytes += bytes;
    }

    public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default)
    {
        // Ignore the token: after a partial send, the following bytes would be out of place.
        var sending = _unsent.Count > 0 && !_isGone ? SendAsync() : ValueTask.CompletedTask;
        if (sending.IsCompletedSuccessfully)
            return new(EndFlush());
        var flush = FlushAsync(sending);
        _flush = flush;
        return new(flush);
    }

    public override void CancelPendingFlush() => _isCanceled = true;

    public override void Complete(Exception? exception = null)
    {
        // A running flush still sends from these buffers and lent blocks, and returns them when it ends. Aborting makes it end sooner.
        if (!_flush.IsCompleted)
        {
            _connection.Abort(new ConnectionAbortedException("The answer was given up."));
            _transport.Output.Complete(exception);
            return;
        }

        // Send unflushed bytes through the transport, which then closes the connection.
        if (!_isGone && exception is null)
        {
            foreach (var bytes in _unsent)
                _transport.Output.Write(bytes);
        }

        Clear();
        _transport.Output.Complete(exception);
    }

    private static void BoundUnsent(Socket socket, int bytes)
    {
        if (OperatingSystem.IsLinux())
            socket.SetRawSocketOption((int)SocketOptionLevel.Tcp, NotSentLowWater, BitConverter.GetBytes(bytes));
    }

    private async Task RunAsync(ConnectionDelegate next)
    {
        _connection.Transport = this;
        _connection.Features.Set<IBlockOutput>(this);
        try
        {
            await next(_connection);
        }
        finally
        {
            _connection.Features.Set<IBlockOutput>(null);
            _connection.Transport = _transport;

            // An abandoned response did not await its flush, or wrote after the connection ended, when nothing is flushed anymore.
            if (!_flush.IsCompleted)
                _connection.Abort(new ConnectionAbortedException("The answer was given up."));
            await _flush;
            Clear();
        }
    }

    private async Task<FlushResult> FlushAsync(ValueTask sending)
    {
        await sending;
        return EndFlush();
    }

    private FlushResult EndFlush()
    {
        Clear();
        var result = new FlushResult(_isCanceled, _isGone);
        _isCanceled = false;
        return result;
    }

    private async ValueTask SendAsync()
    {
        try
        {
            await (_unsent.Count == 1 ? _socket.SendAsync(_unsent[0], SocketFlags.None) : _socket.SendAsync(_unsent, SocketFlags.None));
        }
        catch (Exception failure) when (failure is SocketException or ObjectDisposedException)
        {
            // The client has disconnected, or the connection was aborted.
            _isGone = true;
            _connection.Abort(new ConnectionAbortedException("The client takes no bytes any more.", failure));
        }
    }

    private void Clear()
    {
        foreach (var buffer in _buffers)
            ArrayPool<byte>.Shared.Return(buffer);
        _buffers.Clear();
        _unsent.Clear();
        (_used, _unsentBytes) = (0, 0);
        Loan.Return();
    }
}
