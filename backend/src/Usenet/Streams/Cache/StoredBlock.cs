using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Cache;

/// <summary>A block of a segment in the disk cache.</summary>
/// <param name="Index">Its number in the segment.</param>
/// <param name="Crc">Of its bytes.</param>
internal readonly record struct StoredBlock(int Index, uint Crc)
{
    /// <summary>Its bytes, which are fewer at the end of a segment.</summary>
    public int LengthIn(int segmentLength) => (int)Math.Min(BlockPool.BlockSize, segmentLength - ((long)Index * BlockPool.BlockSize));
}
