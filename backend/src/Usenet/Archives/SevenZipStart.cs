using System.Buffers.Binary;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Archives;

/// <summary>
/// The first 32 bytes of a 7z archive (7zFormat.txt, "SignatureHeader"). They say where its header lies and so how long the archive is: volumes whose
/// lengths sum up to that are the whole set, and the one that ends in the right header is the last (IMP-50, IMP-51).
/// </summary>
/// <param name="HeaderOffset">First byte of the header in the archive, 0-based.</param>
/// <param name="HeaderSize">Bytes of the header; 0 where the archive is empty.</param>
/// <param name="HeaderCrc">CRC-32 of the header.</param>
public readonly record struct SevenZipStart(long HeaderOffset, long HeaderSize, uint HeaderCrc)
{
    /// <summary>Bytes that are needed.</summary>
    public const int Size = 32;

    private const int CrcOffset = 8;
    private const int FieldsOffset = 12;

    /// <summary>Length of the whole archive in bytes; what follows, if anything, is no part of it.</summary>
    public long Length => HeaderOffset + HeaderSize;

    private static ReadOnlySpan<byte> Signature => [(byte)'7', (byte)'z', 0xBC, 0xAF, 0x27, 0x1C];

    /// <summary>Reads the start of an archive.</summary>
    /// <param name="head">First bytes of a file, at least <see cref="Size"/>.</param>
    /// <returns>Null where they are fewer, have no signature, are damaged, or claim what no file can hold.</returns>
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

    /// <summary>Whether bytes are the header, by their number and their CRC.</summary>
    public bool IsHeader(ReadOnlySpan<byte> bytes) => bytes.Length == HeaderSize && Crc32Kernel.Append(0, bytes) == HeaderCrc;
}
