using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav;

/// <summary>The body of a PUT up to its limit. The byte behind it throws the 413, whatever was declared. Does not own the body.</summary>
/// <param name="body">What comes in.</param>
/// <param name="limit">Most bytes.</param>
internal sealed class UploadStream(Stream body, long limit) : ForwardStream
{
    private long _read;

    /// <inheritdoc />
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        int read = await body.ReadAsync(buffer, cancellationToken);
        _read += read;
        if (_read > limit)
            throw new BadHttpRequestException("The upload is larger than allowed.", StatusCodes.Status413PayloadTooLarge);
        return read;
    }
}
