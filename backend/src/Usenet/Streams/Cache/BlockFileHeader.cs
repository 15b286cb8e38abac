using System.Buffers.Binary;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams.Cache;

/// <summary>
/// The header of a disk cache file: names the segment, the blocks that follow and their checksums. Little-endian: magic, version, key, segment length, number
/// of blocks, each block's index and CRC, and the CRC of all preceding bytes.
/// </summary>
/// <remarks>Stateless: reads and writes spans, and does no I/O.</remarks>
internal static class BlockFileHeader
{
    /// <summary>Size limit of a header, in bytes.</summary>
    public const int MaxSize = Fixed + (MostBlocks * PerBlock) + 4;

    private const int MostBlocks = SegmentMap.MaxSegmentLength / BlockPool.BlockSize;
    private const int Fixed = 4 + 4 + DiskKey.Size + 4 + 4;
    private const int PerBlock = 8;
    private const int Version = 1;

    private static ReadOnlySpan<byte> Mark => "SLSB"u8;

    public static int SizeFor(int blocks) => Fixed + (blocks * PerBlock) + 4;

    /// <summary>Writes a header of exactly <see cref="SizeFor"/> bytes, with the blocks in ascending order.</summary>
    public static void Write(Span<byte> destination, DiskKey key, int segmentLength, IReadOnlyList<StoredBlock> blocks)
    {
        Mark.CopyTo(destination);
        BinaryPrimitives.WriteInt32LittleEndian(destination[4..], Version);
        key.Write(destination[8..]);
        BinaryPrimitives.WriteInt32LittleEndian(destination[(8 + DiskKey.Size)..], segmentLength);
        BinaryPrimitives.WriteInt32LittleEndian(destination[(12 + DiskKey.Size)..], blocks.Count);
        for (var i = 0; i < blocks.Count; i++)
        {
            BinaryPrimitives.WriteInt32LittleEndian(destination[(Fixed + (i * PerBlock))..], blocks[i].Index);
            BinaryPrimitives.WriteUInt32LittleEndian(destination[(Fixed + (i * PerBlock) + 4)..], blocks[i].Crc);
        }

        var end = destination.Length - 4;
        BinaryPrimitives.WriteUInt32LittleEndian(destination[end..], Crc32Kernel.Append(0, destination[..end]));
    }

    /// <summary>Reads a header and checks it against the file length, the key and the segment's decoded length.</summary>
    /// <returns>The blocks that follow, in ascending order; null if the file is malformed or belongs to another segment.</returns>
    public static StoredBlock[]? Read(ReadOnlySpan<byte> source, long fileLength, DiskKey key, int segmentLength)
    {
        if (source.Length < Fixed || !source.StartsWith(Mark) || BinaryPrimitives.ReadInt32LittleEndian(source[4..]) != Version
            || DiskKey.Read(source[8..]) != key || BinaryPrimitives.ReadInt32LittleEndian(source[(8 + DiskKey.Size)..]) != segmentLength)
            return null;

        var count = BinaryPrimitives.ReadInt32LittleEndian(source[(12 + DiskKey.Size)..]);
        if (count is < 1 or > MostBlocks || SizeFor(count) > source.Length)
            return null;
        var end = SizeFor(count) - 4;
        if (BinaryPrimitives.ReadUInt32LittleEndian(source[end..]) != Crc32Kernel.Append(0, source[..end]))
            return null;

        var blocks = new StoredBlock[count];
        long expected = SizeFor(count);
        for (int i = 0, least = 0; i < count; i++)
        {
            var index = BinaryPrimitives.ReadInt32LittleEndian(source[(Fixed + (i * PerBlock))..]);
            if (index < least || (long)index * BlockPool.BlockSize >= segmentLength)
                return null;
            blocks[i] = new StoredBlock(index, BinaryPrimitives.ReadUInt32LittleEndian(source[(Fixed + (i * PerBlock) + 4)..]));
            expected += blocks[i].LengthIn(segmentLength);
            least = index + 1;
        }

        return expected == fileLength ? blocks : null;
    }
}

/// <summary>A block of a segment in the disk cache, with its index in the segment and its CRC-32.</summary>
internal readonly record struct StoredBlock(int Index, uint Crc)
{
    /// <summary>Returns the block's length in bytes; the last block of a segment may be shorter.</summary>
    public int LengthIn(int segmentLength) => (int)Math.Min(BlockPool.BlockSize, segmentLength - ((long)Index * BlockPool.BlockSize));
}
