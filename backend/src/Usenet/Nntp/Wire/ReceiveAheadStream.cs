using System.Buffers;
using System.Runtime.CompilerServices;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>
/// A buffer between TLS and the socket that receives as much as is available. TLS reads single records of 16 KiB, each after a zero-byte read, so a bare socket
/// would need two system calls per record.
/// </summary>
/// <remarks>One reader and one writer at a time. Holds a buffer only while it contains bytes. Owns the inner stream.</remarks>
/// <param name="inner">A socket stream, in which a zero-byte read waits for data.</param>
/// <param name="bufferBytes">Maximum bytes received at a time.</param>
internal sealed class ReceiveAheadStream(Stream inner, int bufferBytes) : Stream
{
    private byte[]? _buffer;
    private int _start;
    private int _end;

    /// <summary>Number of bytes received but not read yet. Reader only.</summary>
    public int Held => _end - _start;

    public override bool CanRead => true;

    public override bool CanWrite => true;

    public override bool CanSeek => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <summary>Reads buffered bytes, or receives more. A zero-byte read waits for data.</summary>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        _start < _end ? ValueTask.FromResult(Take(buffer.Span)) : ReceiveAsync(buffer, cancellationToken);

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException("This stream is read asynchronously.");

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default) =>
        inner.WriteAsync(buffer, cancellationToken);

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        inner.WriteAsync(buffer, offset, count, cancellationToken);

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException("This stream is written asynchronously.");

    public override Task FlushAsync(CancellationToken cancellationToken) => inner.FlushAsync(cancellationToken);

    public override void Flush() => inner.Flush();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override async ValueTask DisposeAsync()
    {
        // The buffer is not returned to the pool, because a running read may still write to it.
        await inner.DisposeAsync();
        await base.DisposeAsync();
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            inner.Dispose();
        base.Dispose(disposing);
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> ReceiveAsync(Memory<byte> buffer, CancellationToken cancellationToken)
    {
        var nothing = await inner.ReadAsync(Memory<byte>.Empty, cancellationToken);
        if (buffer.IsEmpty)
            return nothing;

        _buffer ??= ArrayPool<byte>.Shared.Rent(bufferBytes);
        _start = 0;
        _end = await inner.ReadAsync(_buffer.AsMemory(0, bufferBytes), cancellationToken);
        return Take(buffer.Span);
    }

    private int Take(Span<byte> destination)
    {
        var count = Math.Min(destination.Length, _end - _start);
        _buffer.AsSpan(_start, count).CopyTo(destination);
        _start += count;
        if (_start == _end && destination.Length > 0 && _buffer is { } spent)
        {
            (_buffer, _start, _end) = (null, 0, 0);
            ArrayPool<byte>.Shared.Return(spent);
        }

        return count;
    }
}
