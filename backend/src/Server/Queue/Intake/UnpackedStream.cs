using SharpCompress.Common;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>
/// The output of a decompressor that reads an upload: forward only, never more than 200 times what went in, and every
/// fault of the packed bytes is one kind of exception.
/// </summary>
/// <param name="decoder">Disposed with this stream.</param>
/// <param name="format">Name of the format, for the sentence.</param>
/// <param name="packed">Bytes that the decoder has taken so far, or may take at most.</param>
/// <param name="budget">Of the whole upload; the bytes of this stream count with the rest.</param>
internal sealed class UnpackedStream(Stream decoder, string format, Func<long> packed, UnpackBudget budget) : ForwardStream
{
    private long _unpacked;

    /// <inheritdoc/>
    /// <exception cref="NzbFormatException">The packed bytes are damaged, or unpack to too much.</exception>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        int read;
        try
        {
            read = await decoder.ReadAsync(buffer, cancellationToken);
        }
        catch (Exception e) when (e is InvalidDataException or SharpCompressException or EndOfStreamException or IndexOutOfRangeException)
        {
            // The bzip2 reader of SharpCompress runs past its tables on some damage.
            throw new NzbFormatException(NzbFault.NotAnNzb, $"damaged {format}", e);
        }

        _unpacked += read;
        budget.Take(read);
        if (_unpacked > UnpackBudget.Grace && _unpacked / UnpackBudget.MaxRatio > packed())
            throw new NzbFormatException(NzbFault.TooLarge, $"it unpacks to more than {UnpackBudget.MaxRatio} times its size");
        return budget.IsSpent ? throw new NzbFormatException(NzbFault.TooLarge, budget.Excess) : read;
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        if (disposing)
            decoder.Dispose();
        base.Dispose(disposing);
    }
}

/// <summary>How many bytes all the content of one upload may unpack to (S15). Not thread-safe.</summary>
/// <param name="packed">Bytes of the upload.</param>
internal sealed class UnpackBudget(long packed)
{
    /// <summary>Plain bytes per packed byte (IMP-10); text packs to a tenth, a bomb to a thousandth.</summary>
    public const int MaxRatio = 200;

    /// <summary>Plain bytes up to which the ratio is not judged: a short text packs well by chance.</summary>
    public const long Grace = 1 << 20;

    /// <summary>Plain bytes in all: sixteen NZBs of the longest kind.</summary>
    public const long MaxBytes = 4L << 30;

    private readonly long _limit = Math.Min(MaxBytes, Math.Max(Grace, packed * MaxRatio));
    private long _taken;

    /// <summary>Whether more was unpacked than may be.</summary>
    public bool IsSpent => _taken > _limit;

    /// <summary>What there is too much of, for the sentence.</summary>
    public string Excess => _limit == MaxBytes ? $"it unpacks to more than {MaxBytes >> 20} MiB" : $"it unpacks to more than {MaxRatio} times its size";

    /// <summary>Counts unpacked bytes.</summary>
    public void Take(int bytes) => _taken += bytes;
}
