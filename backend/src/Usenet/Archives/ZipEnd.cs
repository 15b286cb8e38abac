using System.Buffers.Binary;

namespace Sluice.Usenet.Archives;

/// <summary>The end of central directory record of a zip with its zip64 record and locator (APPNOTE.TXT 4.3.14 to 4.3.16).</summary>
/// <remarks><c>Begin</c> is an offset in the given tail, disks count from 0, and <c>Entries</c> has only 16 bits without zip64.</remarks>
internal readonly record struct ZipEnd(int Begin, long Disk, long DirectoryDisk, long Entries, long DirectorySize, long DirectoryOffset)
{
    /// <summary>Length of a tail that contains all records and the longest comment.</summary>
    public const int MaxTail = Size64 + LocatorSize + Size + ushort.MaxValue;

    /// <summary>Length of a tail that contains all records of a zip without a comment.</summary>
    public const int UsualTail = 1024;

    private const uint Signature = 0x06054B50;
    private const uint LocatorSignature = 0x07064B50;
    private const uint Signature64 = 0x06064B50;
    private const int Size = 22;
    private const int LocatorSize = 20;
    private const int Size64 = 56;
    private const int CommentLengthOffset = 20;

    /// <summary>Finds the last record whose comment fits; null if there is none.</summary>
    /// <param name="tail">Last bytes of the zip.</param>
    /// <param name="isAll">Whether the tail is the whole zip; otherwise a record counts only if its zip64 records would fit in the tail.</param>
    /// <exception cref="ArchiveException">The zip64 record is not directly before its locator.</exception>
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

    // Ignores the "extensible data sector", because it needs a license and is never used.
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
