using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nzb;

/// <summary>
/// The bytes of an NZB, gzip undone or not: begins with bytes read earlier, counts what passes, and refuses to pass more than allowed.
/// </summary>
/// <remarks>Not thread-safe. The inner stream is disposed with this one when it was handed over.</remarks>
internal sealed class BoundedStream(Stream inner, ReadOnlyMemory<byte> prefix, Func<long, string?> refusal, bool ownsInner) : ForwardStream
{
    private ReadOnlyMemory<byte> _prefix = prefix;

    /// <summary>Bytes handed out so far.</summary>
    public long Passed { get; private set; }

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        Count(TakePrefix(buffer.Span) is var taken and > 0 ? taken : await ReadInnerAsync(buffer, cancellationToken));

    protected override void Dispose(bool disposing)
    {
        if (disposing && ownsInner)
            inner.Dispose();
        base.Dispose(disposing);
    }

    private int TakePrefix(Span<byte> buffer)
    {
        var count = Math.Min(buffer.Length, _prefix.Length);
        _prefix.Span[..count].CopyTo(buffer);
        _prefix = _prefix[count..];
        return count;
    }

    private async ValueTask<int> ReadInnerAsync(Memory<byte> buffer, CancellationToken cancellationToken)
    {
        try
        {
            return await inner.ReadAsync(buffer, cancellationToken);
        }
        catch (InvalidDataException broken)
        {
            // Damage in the compressed bytes is the fault of the file that was added, and has one exception.
            throw new NzbFormatException(NzbFault.NotAnNzb, "damaged gzip", broken);
        }
    }

    private int Count(int read)
    {
        Passed += read;
        return refusal(Passed) is { } what ? throw new NzbFormatException(NzbFault.TooLarge, what) : read;
    }
}
