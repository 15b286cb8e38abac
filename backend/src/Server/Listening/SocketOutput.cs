using System.Buffers;
using System.IO.Pipelines;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Listening;

/// <summary>
/// What one connection without TLS sends, in place of the pipe of its transport and the loop behind that: a flush is one call of the system,
/// and the blocks of a stream go to it where they lie. All bytes take this way, so that their order is that in which they were written.
/// </summary>
/// <remarks>
/// Used as a pipe is: by one caller at a time, who awaits each flush before the next use. A flush ends when the system has taken the bytes, or
/// will take no more; an answer that does not wait for it aborts the connection. Until then it holds what it sends: lent blocks go back at the end
/// of the flush, whatever has become of the answer.
/// </remarks>
internal sealed class SocketOutput : PipeWriter, IDuplexPipe, IBlockOutput
{
    private const int SmallestBuffer = 4 << 10;

    // TCP_NOTSENT_LOWAT of linux/tcp.h bounds what lies in the system before it is on its way: for the beginning of an answer, whose client
    // may be one that looks and leaves, and for the rest of a long one.
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

    // The last one that had to wait.
    private Task _flush = Task.CompletedTask;

    private SocketOutput(ConnectionContext connection, Socket socket) =>
        (_connection, _transport, _socket) = (connection, connection.Transport, socket);

    /// <inheritdoc/>
    public BlockLoan Loan { get; } = new();

    /// <inheritdoc/>
    public PipeReader Input => _transport.Input;

    /// <inheritdoc/>
    public PipeWriter Output => this;

    /// <inheritdoc/>
    public override bool CanGetUnflushedBytes => true;

    /// <inheritdoc/>
    public override long UnflushedBytes => _unsentBytes;

    /// <summary>Wraps the handler of a connection.</summary>
    public static ConnectionDelegate Serve(ConnectionDelegate next) => connection =>
        connection.Features.Get<IConnectionSocketFeature>()?.Socket is { } socket ? new SocketOutput(connection, socket).RunAsync(next) : next(connection);

    /// <summary>Bounds what lies in the system unsent, for all sockets that a listener accepts.</summary>
    public static void BoundUnsent(Socket listener) => BoundUnsent(listener, UnsentOfStart);

    /// <inheritdoc/>
    public void ExpectMuch(bool isLong)
    {
        try
        {
            BoundUnsent(_socket, isLong ? UnsentOfRest : UnsentOfStart);
        }
        catch (Exception failure) when (failure is SocketException or ObjectDisposedException)
        {
            // The connection is closed, which the next flush is about to say.
        }
    }

    /// <inheritdoc/>
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

    /// <inheritdoc/>
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

    /// <inheritdoc/>
    public override Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    /// <inheritdoc/>
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

    /// <inheritdoc/>
    public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default)
    {
        // Not cut short by the token: a part of the bytes may have left, and what follows them would follow the wrong byte.
        var sending = _unsent.Count > 0 && !_isGone ? SendAsync() : ValueTask.CompletedTask;
        if (sending.IsCompletedSuccessfully)
            return new(EndFlush());
        var flush = FlushAsync(sending);
        _flush = flush;
        return new(flush);
    }

    /// <inheritdoc/>
    public override void CancelPendingFlush() => _isCanceled = true;

    /// <inheritdoc/>
    public override void Complete(Exception? exception = null)
    {
        // A flush that is under way still sends from these buffers and lent blocks, and gives them back at its end, which the abort hastens.
        if (!_flush.IsCompleted)
        {
            _connection.Abort(new ConnectionAbortedException("The answer was given up."));
            _transport.Output.Complete(exception);
            return;
        }

        // What was written and never flushed goes the way of the transport, which closes the connection behind it.
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

            // An answer that was given up has not waited for its flush, or has written after the end of the connection, where nothing is
            // flushed any more.
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
            // The client has gone, or the connection was aborted.
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
