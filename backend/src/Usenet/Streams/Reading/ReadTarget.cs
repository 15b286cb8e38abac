using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>Where the bytes of one read go: copied into the reader's memory, or lent to it where they lie.</summary>
internal readonly struct ReadTarget
{
    private readonly Memory<byte> _memory;
    private readonly BlockLoan? _loan;

    /// <summary>Copies.</summary>
    public ReadTarget(Memory<byte> memory) => (_memory, Length) = (memory, memory.Length);

    /// <summary>Lends, from one buffer at most.</summary>
    public ReadTarget(BlockLoan loan, int most) => (_loan, Length) = (loan, most);

    /// <summary>Most bytes that it takes.</summary>
    public int Length { get; }

    public bool IsEmpty => Length == 0;

    /// <summary>The rest, behind the first bytes.</summary>
    public ReadTarget From(int count) => _loan is null ? new(_memory[count..]) : new(_loan, Length - count);

    /// <summary>The same for no more than this many bytes.</summary>
    public ReadTarget UpTo(int count) => count >= Length ? this : _loan is null ? new(_memory[..count]) : new(_loan, count);

    /// <summary>Whether it takes bytes of a buffer, beside those that it has.</summary>
    public bool Takes(SegmentBuffer source) => _loan?.Takes(source) != false;

    /// <summary>Takes bytes of a buffer, no more than there is room for.</summary>
    public void Put(SegmentBuffer source, int offset, int count)
    {
        if (_loan is null)
            source.CopyTo(offset, _memory.Span[..count]);
        else
            source.LendTo(_loan, offset, count);
    }
}
