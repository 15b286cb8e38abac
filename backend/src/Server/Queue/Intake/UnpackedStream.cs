using SharpCompress.Common;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>Output of a decompressor. Fails when the output exceeds 200 times the input, and reports damage as one kind of exception.</summary>
/// <param name="decoder">Disposed with this stream.</param>
/// <param name="format">Name of the format, for error messages.</param>
/// <param name="packed">Returns the bytes that the decoder has consumed, or may consume at most.</param>
/// <param name="budget">Budget of the whole upload, shared by its streams.</param>
internal sealed class UnpackedStream(Stream decoder, string format, Func<long> packed, UnpackBudget budget) : ForwardStream
{
    private long _unpacked;

    /// <inheritdoc/>
    /// <exception cref="NzbFormatException">The packed bytes are damaged or unpack to too much.</exception>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        int read;
        try
        {
            read = await decoder.ReadAsync(buffer, cancellationToken);
        }
        catch (Exception e) when (e is InvalidDataException or SharpCompressException or EndOfStreamException or IndexOutOfRangeException)
        {
            // The bzip2 reader of SharpCompress reads past its tables on some damage.
            throw new NzbFormatException(NzbFault.NotAnNzb, $"damaged {format}", e);
        }

        _unpacked += read;
        budget.Take(read);
        if (_unpacked > UnpackBudget.Grace && _unpacked / UnpackBudget.MaxRatio > packed())
            throw new NzbFormatException(NzbFault.TooLarge, $"it unpacks to more than {UnpackBudget.MaxRatio} times its size");
        return budget.IsSpent ? throw new NzbFormatException(NzbFault.TooLarge, budget.Excess) : read;
    }

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            decoder.Dispose();
        base.Dispose(disposing);
    }
}

/// <summary>Limits how much one upload may unpack to (S15). Not thread-safe.</summary>
/// <param name="packed">Size of the upload in bytes.</param>
internal sealed class UnpackBudget(long packed)
{
    /// <summary>Plain bytes per packed byte (IMP-10). Text packs to a tenth, a bomb to a thousandth.</summary>
    public const int MaxRatio = 200;

    /// <summary>Below this many plain bytes the ratio is not checked, because short texts can pack very well.</summary>
    public const long Grace = 1 << 20;

    /// <summary>Total limit: sixteen NZBs of maximum size.</summary>
    public const long MaxBytes = 4L << 30;

    private readonly long _limit = Math.Min(MaxBytes, Math.Max(Grace, packed * MaxRatio));
    private long _taken;

    public bool IsSpent => _taken > _limit;

    /// <summary>The exceeded limit, for error messages.</summary>
    public string Excess => _limit == MaxBytes ? $"it unpacks to more than {MaxBytes >> 20} MiB" : $"it unpacks to more than {MaxRatio} times its size";

    public void Take(int bytes) => _taken += bytes;
}
