using System.Buffers;
using System.Runtime.ExceptionServices;
using System.Security.Cryptography;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Database;

/// <summary>Hashes and copies every byte read, because the source can be read only once.</summary>
/// <remarks>Leaves source and target open. Reading past the limit throws.</remarks>
internal sealed class PassingStream(Stream from, Stream to, IncrementalHash hash, long limit) : ForwardStream
{
    private const int DrainBuffer = 128 << 10;

    private ExceptionDispatchInfo? _fault;
    private long _length;

    /// <exception cref="BlobTooLargeException">The source is longer than the limit.</exception>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        _fault?.Throw();
        try
        {
            var read = await from.ReadAsync(buffer, cancellationToken);
            _length += read;
            if (_length > limit)
                throw new BlobTooLargeException(limit);
            hash.AppendData(buffer.Span[..read]);
            await to.WriteAsync(buffer[..read], cancellationToken);
            return read;
        }
        catch (Exception e)
        {
            // A parser may mistake this for invalid content and continue, so later reads must fail too.
            _fault = ExceptionDispatchInfo.Capture(e);
            throw;
        }
    }

    /// <summary>Copies the rest of the source. Returns the total number of bytes.</summary>
    public async Task<long> DrainAsync(CancellationToken cancellationToken)
    {
        var buffer = ArrayPool<byte>.Shared.Rent(DrainBuffer);
        try
        {
            while (await ReadAsync(buffer, cancellationToken) > 0)
            {
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }

        return _length;
    }
}
