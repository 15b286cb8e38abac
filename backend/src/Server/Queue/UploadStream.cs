namespace Sluice.Server.Queue;

/// <summary>The body of an upload: begins with bytes that were looked at before, counts what passes, and ends in an exception past the limit.</summary>
/// <param name="body">Stays open.</param>
/// <param name="start">Bytes already taken from the body.</param>
/// <param name="limit">Most bytes, the start included.</param>
internal sealed class UploadStream(Stream body, ReadOnlyMemory<byte> start, long limit) : Stream
{
    private ReadOnlyMemory<byte> _start = start;

    /// <summary>Bytes handed out so far.</summary>
    public long Passed { get; private set; }

    /// <inheritdoc/>
    public override bool CanRead => true;

    /// <inheritdoc/>
    public override bool CanSeek => false;

    /// <inheritdoc/>
    public override bool CanWrite => false;

    /// <inheritdoc/>
    public override long Length => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Position
    {
        get => Passed;
        set => throw new NotSupportedException();
    }

    /// <inheritdoc/>
    /// <exception cref="UploadTooLargeException">The body is longer than the limit.</exception>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        int read;
        if (_start.IsEmpty)
        {
            read = await body.ReadAsync(buffer, cancellationToken);
        }
        else
        {
            read = Math.Min(buffer.Length, _start.Length);
            _start[..read].CopyTo(buffer);
            _start = _start[read..];
        }

        Passed += read;
        return Passed > limit ? throw new UploadTooLargeException() : read;
    }

    /// <inheritdoc/>
    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException("Read it asynchronously.");

    /// <inheritdoc/>
    public override void Flush()
    {
        // Nothing is ever written.
    }

    /// <inheritdoc/>
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void SetLength(long value) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}

/// <summary>The body of an upload is longer than one may be (S26).</summary>
internal sealed class UploadTooLargeException() : IOException("The upload is too large.");
