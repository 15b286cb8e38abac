namespace Sluice.Server.WebDav.Tree;

/// <summary>A body whose first byte is at hand, because only a read tells an empty one. Does not own what is below.</summary>
internal sealed class PeekedStream : Stream
{
    private readonly Stream _body;
    private readonly byte _first;
    private bool _isTaken;

    private PeekedStream(Stream body, byte first)
    {
        _body = body;
        _first = first;
    }

    /// <inheritdoc />
    public override bool CanRead => true;

    /// <inheritdoc />
    public override bool CanSeek => false;

    /// <inheritdoc />
    public override bool CanWrite => false;

    /// <inheritdoc />
    public override long Length => throw new NotSupportedException();

    /// <inheritdoc />
    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <summary>Waits for the first byte. Null when there is none.</summary>
    public static async Task<PeekedStream?> OpenAsync(Stream body, CancellationToken ct)
    {
        byte[] first = new byte[1];
        return await body.ReadAsync(first, ct) == 0 ? null : new PeekedStream(body, first[0]);
    }

    /// <inheritdoc />
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (_isTaken || buffer.IsEmpty)
            return _body.ReadAsync(buffer, cancellationToken);
        _isTaken = true;
        buffer.Span[0] = _first;
        return ValueTask.FromResult(1);
    }

    /// <inheritdoc />
    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    /// <inheritdoc />
    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    /// <inheritdoc />
    public override void Flush() => throw new NotSupportedException();

    /// <inheritdoc />
    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    /// <inheritdoc />
    public override void SetLength(long value) => throw new NotSupportedException();

    /// <inheritdoc />
    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}
