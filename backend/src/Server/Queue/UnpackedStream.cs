using ICSharpCode.SharpZipLib;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Queue;

/// <summary>
/// The output of a decompressor that reads an upload: forward only, never more than 200 times what went in, and every
/// complaint about the packed bytes is one kind of exception.
/// </summary>
/// <param name="decoder">Disposed with this stream.</param>
/// <param name="format">Name of the format, for the sentence.</param>
/// <param name="packed">Bytes that the decoder has taken so far, or may take at most.</param>
/// <param name="budget">What all that is in the upload may unpack to; this is counted with the rest.</param>
internal sealed class UnpackedStream(Stream decoder, string format, Func<long> packed, UnpackBudget budget) : Stream
{
    private long _unpacked;

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
        get => _unpacked;
        set => throw new NotSupportedException();
    }

    /// <inheritdoc/>
    /// <exception cref="NzbFormatException">The packed bytes are damaged, or unpack to too much.</exception>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        int read;
        try
        {
            read = await decoder.ReadAsync(buffer, cancellationToken);
        }
        catch (Exception e) when (e is InvalidDataException or SharpZipBaseException or EndOfStreamException or IndexOutOfRangeException)
        {
            // The bzip2 reader of SharpZipLib runs past its tables on some damage.
            throw new NzbFormatException(NzbFault.NotAnNzb, $"damaged {format}", e);
        }

        _unpacked += read;
        budget.Take(read);
        if (_unpacked > UnpackBudget.Grace && _unpacked / UnpackBudget.MaxRatio > packed())
            throw new NzbFormatException(NzbFault.TooLarge, $"it unpacks to more than {UnpackBudget.MaxRatio} times its size");
        return budget.IsSpent ? throw new NzbFormatException(NzbFault.TooLarge, budget.Excess) : read;
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

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (disposing)
            decoder.Dispose();
        base.Dispose(disposing);
    }
}
