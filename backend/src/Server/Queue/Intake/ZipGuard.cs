using System.Buffers.Binary;
using Sluice.Server.History;

namespace Sluice.Server.Queue.Intake;

/// <summary>Checks a zip's directory size before the zip is opened, because opening reads the whole directory into memory.</summary>
internal static class ZipGuard
{
    /// <summary>Maximum NZBs in one zip.</summary>
    public const int MaxMembers = 1000;

    /// <summary>Maximum directory size in bytes, about 10,000 entries with usual names.</summary>
    public const int MaxDirectory = 1 << 20;

    // APPNOTE.TXT 4.3.16: signature, 6 fields of 2 or 4 bytes, directory offset, comment of up to 65,535 bytes.
    private const int EndRecord = 22;
    private const int OffsetField = 16;
    private const int MaxComment = ushort.MaxValue;

    /// <summary>Returns why a zip must not be opened, or null. Resets the position to the beginning.</summary>
    public static ImportFailure? Refuse(Stream zip)
    {
        var tail = new byte[(int)Math.Min(zip.Length, EndRecord + MaxComment)];
        zip.Position = zip.Length - tail.Length;
        zip.ReadExactly(tail);
        zip.Position = 0;

        var end = tail.AsSpan().LastIndexOf("PK\u0005\u0006"u8);
        if (end < 0 || tail.Length - end < EndRecord)
            return ImportFailure.NotAnNzb("damaged zip");

        // An offset of all ones means zip64, which no zip within the limits needs. Limit the size by the offset, because the reader ignores the entry count.
        var directory = BinaryPrimitives.ReadUInt32LittleEndian(tail.AsSpan(end + OffsetField));
        if (directory > zip.Length)
            return ImportFailure.NotAnNzb("damaged zip");
        return zip.Length - directory > MaxDirectory + MaxComment
            ? ImportFailure.NzbTooLarge($"more than {MaxMembers} files in a zip")
            : null;
    }
}
