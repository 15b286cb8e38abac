namespace Sluice.Usenet.Streams;

/// <summary>A seekable file that can only be read, and only asynchronously.</summary>
/// <remarks>For one reader at a time. A read of 0 bytes means the end and nothing else; whatever goes wrong throws.</remarks>
public abstract class ReadOnlyStream : Stream
{
    /// <inheritdoc/>
    public override bool CanRead => true;

    /// <inheritdoc/>
    public override bool CanSeek => true;

    /// <inheritdoc/>
    public override bool CanWrite => false;

    /// <inheritdoc/>
    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    /// <inheritdoc/>
    public abstract override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default);

    /// <inheritdoc/>
    public override long Seek(long offset, SeekOrigin origin) => Position = origin switch
    {
        SeekOrigin.Begin => offset,
        SeekOrigin.Current => Position + offset,
        _ => Length + offset,
    };

    /// <summary>Not supported: a synchronous read would block a thread for a round trip.</summary>
    public sealed override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException("Read asynchronously.");

    /// <inheritdoc/>
    public sealed override void Flush()
    {
    }

    /// <inheritdoc/>
    public sealed override void SetLength(long value) => throw new NotSupportedException("The stream is read-only.");

    /// <inheritdoc/>
    public sealed override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException("The stream is read-only.");
}
