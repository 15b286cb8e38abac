namespace Sluice.Testing;

/// <summary>Hands out bytes in portions, as a socket might: a first one of a given size, then all of another size.</summary>
/// <remarks>Forward only and asynchronous only; a synchronous read fails the test.</remarks>
public sealed class CutStream(ReadOnlyMemory<byte> bytes, int first, int rest = int.MaxValue) : Stream
{
    private ReadOnlyMemory<byte> _bytes = bytes;
    private int _portion = first;

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
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <inheritdoc/>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        await Task.CompletedTask;
        cancellationToken.ThrowIfCancellationRequested();
        var portion = _portion > 0 ? _portion : rest;
        var count = Math.Min(Math.Min(buffer.Length, portion), _bytes.Length);
        _portion = rest;
        _bytes[..count].CopyTo(buffer);
        _bytes = _bytes[count..];
        return count;
    }

    /// <inheritdoc/>
    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    /// <inheritdoc/>
    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException("Read asynchronously.");

    /// <inheritdoc/>
    public override void Flush() => throw new NotSupportedException();

    /// <inheritdoc/>
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void SetLength(long value) => throw new NotSupportedException();

    /// <inheritdoc/>
    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}
