namespace Sluice.Server.WebDav;

/// <summary>The body of a PUT up to its limit. The byte behind it throws the 413, whatever was declared. Does not own the body.</summary>
internal sealed class UploadStream : Stream
{
    private readonly Stream _body;
    private readonly long _limit;
    private long _read;

    public UploadStream(Stream body, long limit)
    {
        _body = body;
        _limit = limit;
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
        get => _read;
        set => throw new NotSupportedException();
    }

    /// <inheritdoc />
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        int read = await _body.ReadAsync(buffer, cancellationToken);
        _read += read;
        if (_read > _limit)
            throw new BadHttpRequestException("The upload is larger than allowed.", StatusCodes.Status413PayloadTooLarge);
        return read;
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
