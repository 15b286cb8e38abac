using System.Buffers;
using System.Runtime.ExceptionServices;
using System.Security.Cryptography;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Database;

/// <summary>Bytes on their way to a file: what a reader takes from here is hashed and written, so that one pass serves both.</summary>
/// <param name="from">The source; stays open.</param>
/// <param name="to">Gets every byte in order; stays open.</param>
/// <param name="hash">Gets the same.</param>
/// <param name="limit">Bytes at most.</param>
internal sealed class PassingStream(Stream from, Stream to, IncrementalHash hash, long limit) : ForwardStream
{
    private const int DrainBuffer = 128 << 10;

    private ExceptionDispatchInfo? _fault;
    private long _length;

    /// <inheritdoc/>
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
            // The reader may take it for a fault of the content. The bytes stop here whatever the reader makes of it.
            _fault = ExceptionDispatchInfo.Capture(e);
            throw;
        }
    }

    /// <summary>Passes on the bytes that no reader has taken.</summary>
    /// <returns>How many bytes have passed in all.</returns>
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
