namespace Sluice.Usenet.Streams;

/// <summary>Blocks of a proved segment on their way to the disk.</summary>
/// <param name="Key">Of the segment.</param>
/// <param name="Proved">The segment, with a count for the way.</param>
/// <param name="Length">Its decoded bytes.</param>
/// <param name="First">First block to keep.</param>
/// <param name="Last">Last block to keep.</param>
internal sealed record KeptSegment(DiskKey Key, SegmentBuffer Proved, int Length, int First, int Last)
{
    /// <summary>Blocks of the whole segment.</summary>
    public int BlockCount => (Length + BlockPool.BlockSize - 1) / BlockPool.BlockSize;

    /// <summary>Memory that waits with it.</summary>
    public long Bytes => Proved.BlockBytes;

    /// <summary>Whether a block is to be kept.</summary>
    public bool Has(int index) => index >= First && index <= Last;

    /// <summary>The bytes of a block.</summary>
    public ReadOnlyMemory<byte> Read(int index) => Proved.BlockMemory(index)[..new StoredBlock(index, 0).LengthIn(Length)];
}
