using Microsoft.AspNetCore.Http.Features;

namespace Sluice.Server.Auth;

/// <summary>
/// The body of a request, which ends with 413 when it is longer than it may be. Counts what the endpoint gets, so the limit is
/// exact with and without Content-Length; Kestrel's own count includes the framing of chunks (S26).
/// </summary>
/// <remarks>Takes the place of Kestrel's feature, so endpoints set their limit in the usual way, before they read.</remarks>
internal sealed class LimitedBody(Stream inner, long? contentLength, long limit) : Stream, IHttpMaxRequestBodySizeFeature
{
    private long? _limit = limit;
    private long _read;

    /// <inheritdoc/>
    public bool IsReadOnly { get; private set; }

    /// <inheritdoc/>
    public long? MaxRequestBodySize
    {
        get => _limit;
        set => _limit = IsReadOnly ? throw new InvalidOperationException("The body is being read.") : value;
    }

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
        IsReadOnly = true;
        // A length that is announced is refused before a client sends the body to it.
        Require(contentLength ?? 0);
        var read = await inner.ReadAsync(buffer, cancellationToken);
        _read += read;
        Require(_read);
        return read;
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

    private void Require(long length)
    {
        if (length > _limit)
            throw new BadHttpRequestException("Request body too large.", StatusCodes.Status413PayloadTooLarge);
    }
}
