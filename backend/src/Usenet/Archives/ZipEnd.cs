using System.Buffers.Binary;

namespace Sluice.Usenet.Archives;

/// <summary>The end of a zip: its end of central directory record, with the zip64 record and its locator in front (APPNOTE.TXT 4.3.14 to 4.3.16).</summary>
/// <param name="Begin">Where the first of these records begins in the tail that was read.</param>
/// <param name="Disk">Number of the disk that they lie on, that is of the last one; 0-based.</param>
/// <param name="DirectoryDisk">Number of the disk that the central directory begins on.</param>
/// <param name="Entries">Entries of the central directory; of a short record their lowest 16 bits.</param>
/// <param name="DirectorySize">Bytes of the central directory.</param>
/// <param name="DirectoryOffset">Its first byte on its disk.</param>
internal readonly record struct ZipEnd(int Begin, long Disk, long DirectoryDisk, long Entries, long DirectorySize, long DirectoryOffset)
{
    /// <summary>Bytes at the end of a zip that hold all of it, with the longest comment.</summary>
    public const int MaxTail = Size64 + LocatorSize + Size + ushort.MaxValue;

    /// <summary>Bytes at the end of a zip that hold all of it, unless there is a comment.</summary>
    public const int UsualTail = 1024;

    private const uint Signature = 0x06054B50;
    private const uint LocatorSignature = 0x07064B50;
    private const uint Signature64 = 0x06064B50;
    private const int Size = 22;
    private const int LocatorSize = 20;
    private const int Size64 = 56;
    private const int CommentLengthOffset = 20;

    /// <summary>Reads the last record whose comment fits into what follows it.</summary>
    /// <param name="tail">Last bytes of the zip.</param>
    /// <param name="isAll">Whether the zip has no further bytes; else a record is taken only where all in front of it is in the tail.</param>
    /// <returns>Null if there is none.</returns>
    /// <exception cref="ArchiveException">Its zip64 record is not where every program writes it.</exception>
    public static ZipEnd? Read(ReadOnlySpan<byte> tail, bool isAll)
    {
        var first = isAll ? 0 : Size64 + LocatorSize;
        for (var at = tail.Length - Size; at >= first; at--)
        {
            var record = tail[at..];
            if (BinaryPrimitives.ReadUInt32LittleEndian(record) == Signature
                && BinaryPrimitives.ReadUInt16LittleEndian(record[CommentLengthOffset..]) <= record.Length - Size)
            {
                return IsLocator(tail, at - LocatorSize) ? Read64(tail, at - LocatorSize - Size64) : ReadShort(record, at);
            }
        }

        return null;
    }

    private static bool IsLocator(ReadOnlySpan<byte> tail, int at) =>
        at >= 0 && BinaryPrimitives.ReadUInt32LittleEndian(tail[at..]) == LocatorSignature;

    private static ZipEnd ReadShort(ReadOnlySpan<byte> record, int at) => new(
        at,
        BinaryPrimitives.ReadUInt16LittleEndian(record[4..]),
        BinaryPrimitives.ReadUInt16LittleEndian(record[6..]),
        BinaryPrimitives.ReadUInt16LittleEndian(record[10..]),
        BinaryPrimitives.ReadUInt32LittleEndian(record[12..]),
        BinaryPrimitives.ReadUInt32LittleEndian(record[16..]));

    // The record may be longer in theory ("extensible data sector"), which needs a licence and is never met.
    private static ZipEnd Read64(ReadOnlySpan<byte> tail, int at)
    {
        if (at < 0 || BinaryPrimitives.ReadUInt32LittleEndian(tail[at..]) != Signature64)
            throw new ArchiveException(ArchiveFault.Broken, "its zip64 record is not in front of its end");
        var record = tail[at..];
        return new ZipEnd(
            at,
            BinaryPrimitives.ReadUInt32LittleEndian(record[16..]),
            BinaryPrimitives.ReadUInt32LittleEndian(record[20..]),
            BinaryPrimitives.ReadInt64LittleEndian(record[32..]),
            BinaryPrimitives.ReadInt64LittleEndian(record[40..]),
            BinaryPrimitives.ReadInt64LittleEndian(record[48..]));
    }
}
