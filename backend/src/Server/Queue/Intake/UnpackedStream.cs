using SharpCompress.Common;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Intake;

/// <summary>The output of a decompressor. Fails if it exceeds 200 times the input, and reports all damage as one exception type.</summary>
/// <param name="decoder">The decompressor, which is disposed with this stream.</param>
/// <param name="packed">Returns the number of input bytes consumed so far, or an upper bound.</param>
/// <param name="budget">Budget of the upload, shared by all its streams.</param>
internal sealed class UnpackedStream(Stream decoder, string format, Func<long> packed, UnpackBudget budget) : ForwardStream
{
    private long _unpacked;

    /// <exception cref="NzbFormatException">The input is damaged or decompresses to too much.</exception>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        int read;
        try
        {
            read = await decoder.ReadAsync(buffer, cancellationToken);
        }
        catch (Exception e) when (e is InvalidDataException or SharpCompressException or EndOfStreamException or IndexOutOfRangeException)
        {
            // SharpCompress's bzip2 reader can index past its tables if the data is damaged.
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

/// <summary>Limits the decompressed size of one upload (S15). Not thread-safe.</summary>
/// <param name="packed">Size of the upload, in bytes.</param>
internal sealed class UnpackBudget(long packed)
{
    /// <summary>Maximum compression ratio (IMP-10), because an NZB compresses about 10:1, but a bomb 1000:1.</summary>
    public const int MaxRatio = 200;

    /// <summary>Below this many decompressed bytes the ratio is not checked, because short texts can compress very well.</summary>
    public const long Grace = 1 << 20;

    /// <summary>Maximum decompressed bytes: sixteen NZBs of maximum size.</summary>
    public const long MaxBytes = 4L << 30;

    private readonly long _limit = Math.Min(MaxBytes, Math.Max(Grace, packed * MaxRatio));
    private long _taken;

    public bool IsSpent => _taken > _limit;

    /// <summary>The exceeded limit as part of an error message.</summary>
    public string Excess => _limit == MaxBytes ? $"it unpacks to more than {MaxBytes >> 20} MiB" : $"it unpacks to more than {MaxRatio} times its size";

    public void Take(int bytes) => _taken += bytes;
}
