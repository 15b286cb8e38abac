using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>Destination of one read: bytes are copied into the reader's memory or lent in place.</summary>
internal readonly struct ReadTarget
{
    private readonly Memory<byte> _memory;
    private readonly BlockLoan? _loan;

    public ReadTarget(Memory<byte> memory) => (_memory, Length) = (memory, memory.Length);

    public ReadTarget(BlockLoan loan, int most) => (_loan, Length) = (loan, most);

    public int Length { get; }

    public bool IsEmpty => Length == 0;

    public ReadTarget From(int count) => _loan is null ? new(_memory[count..]) : new(_loan, Length - count);

    public ReadTarget UpTo(int count) => count >= Length ? this : _loan is null ? new(_memory[..count]) : new(_loan, count);

    /// <summary>Whether the target accepts bytes from this buffer in addition to its current content.</summary>
    public bool Takes(SegmentBuffer source) => _loan?.Takes(source) != false;

    /// <summary>Adds bytes from a buffer; the caller has checked that they fit.</summary>
    public void Put(SegmentBuffer source, int offset, int count)
    {
        if (_loan is null)
            source.CopyTo(offset, _memory.Span[..count]);
        else
            source.LendTo(_loan, offset, count);
    }
}
