using System.Buffers.Binary;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Archives;

/// <summary>The first 32 bytes of a 7z archive (7zFormat.txt, "SignatureHeader"). They locate the header and so give the total length.</summary>
/// <remarks>Volumes that add up to this length are the whole set; the last volume ends with the matching header (IMP-50, IMP-51).</remarks>
/// <param name="HeaderOffset">0-based offset of the header in the archive.</param>
/// <param name="HeaderSize">Header length in bytes; 0 for an empty archive.</param>
/// <param name="HeaderCrc">CRC-32 of the header.</param>
public readonly record struct SevenZipStart(long HeaderOffset, long HeaderSize, uint HeaderCrc)
{
    public const int Size = 32;

    private const int CrcOffset = 8;
    private const int FieldsOffset = 12;

    /// <summary>Length of the whole archive in bytes, without any trailing bytes.</summary>
    public long Length => HeaderOffset + HeaderSize;

    private static ReadOnlySpan<byte> Signature => [(byte)'7', (byte)'z', 0xBC, 0xAF, 0x27, 0x1C];

    /// <summary>Parses the first bytes of a file.</summary>
    /// <returns>Null if there are fewer than <see cref="Size"/> bytes, the signature or CRC is wrong, or a size is impossible.</returns>
    public static SevenZipStart? Read(ReadOnlySpan<byte> head)
    {
        if (head.Length < Size || !head.StartsWith(Signature))
            return null;
        var fields = head[FieldsOffset..Size];
        if (Crc32Kernel.Append(0, fields) != BinaryPrimitives.ReadUInt32LittleEndian(head[CrcOffset..]))
            return null;

        var offset = BinaryPrimitives.ReadInt64LittleEndian(fields);
        var size = BinaryPrimitives.ReadInt64LittleEndian(fields[8..]);
        return offset < 0 || size < 0 || offset > long.MaxValue - Size - size
            ? null
            : new SevenZipStart(Size + offset, size, BinaryPrimitives.ReadUInt32LittleEndian(fields[16..]));
    }

    /// <summary>Whether the bytes are the header, judged by length and CRC.</summary>
    public bool IsHeader(ReadOnlySpan<byte> bytes) => bytes.Length == HeaderSize && Crc32Kernel.Append(0, bytes) == HeaderCrc;
}
