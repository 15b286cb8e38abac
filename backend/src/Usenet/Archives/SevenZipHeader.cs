using System.Buffers.Binary;
using System.Text;

namespace Sluice.Usenet.Archives;

/// <summary>A file, folder or link in the header.</summary>
/// <param name="Path">Path with <c>/</c> as separator.</param>
/// <param name="HasStream">Whether the item consumes the next stream; folders, empty files and anti items do not.</param>
/// <param name="Attributes">Windows attributes in the low half; if bit 15 is set, the Unix mode in the high half.</param>
internal readonly record struct SevenZipItem(string Path, bool HasStream, uint Attributes)
{
    private const uint WindowsFolder = 0x10;
    private const uint WindowsReparsePoint = 0x400;
    private const uint HasUnixMode = 0x8000;
    private const uint UnixType = 0xF000;
    private const uint UnixFile = 0x8000;
    private const uint UnixFolder = 0x4000;

    public bool IsFolder => Type is { } type ? type == UnixFolder : (Attributes & WindowsFolder) != 0;

    /// <summary>Whether the item is a link or another special file, so its stream is not file content.</summary>
    public bool IsSpecial => (Attributes & WindowsReparsePoint) != 0 || Type is not (null or UnixFile or UnixFolder);

    private uint? Type => (Attributes & HasUnixMode) != 0 && ((Attributes >> 16) & UnixType) is not 0 and var type ? type : null;
}

/// <summary>An unpacked 7z header (7zFormat.txt, "Header").</summary>
internal sealed record SevenZipHeader(SevenZipStreams Streams, IReadOnlyList<SevenZipItem> Items)
{
    /// <summary>Maximum path length in UTF-16 units; no system allows a longer path.</summary>
    private const int MaxPath = 32_768;

    /// <summary>Reads a header after its property ID.</summary>
    public static SevenZipHeader Read(SevenZipCursor cursor, long archiveLength, ArchiveBudget budget)
    {
        var lists = new SevenZipLists(budget);
        var (streams, items) = (SevenZipStreams.None, Array.Empty<SevenZipItem>());
        for (; ; )
        {
            switch (cursor.ReadProperty())
            {
                case SevenZipProperty.End:
                    return new SevenZipHeader(streams, items);
                case SevenZipProperty.ArchiveProperties:
                    while (cursor.ReadProperty() != SevenZipProperty.End)
                        cursor.Skip();
                    break;
                case SevenZipProperty.AdditionalStreamsInfo:
                    throw new ArchiveException(ArchiveFault.Unsupported, "its header lies in several streams");
                case SevenZipProperty.MainStreamsInfo:
                    streams = SevenZipStreams.Read(cursor, archiveLength, lists);
                    break;
                case SevenZipProperty.FilesInfo:
                    items = ReadItems(cursor, lists);
                    break;
                default:
                    throw new ArchiveException(ArchiveFault.Broken, "its header holds an unknown property");
            }
        }
    }

    private static SevenZipItem[] ReadItems(SevenZipCursor cursor, SevenZipLists lists)
    {
        var count = lists.Charge(cursor.ReadCount());
        var isEmpty = new bool[count];
        var paths = new string[count];
        var attributes = new uint[count];
        Array.Fill(paths, "");
        // Times, comments, kinds of empty items and kDummy padding are skipped by their lengths.
        for (var property = cursor.ReadProperty(); property != SevenZipProperty.End; property = cursor.ReadProperty())
        {
            var field = cursor.ReadSized();
            switch (property)
            {
                case SevenZipProperty.EmptyStream:
                    isEmpty = field.ReadBits(count);
                    break;
                case SevenZipProperty.Names:
                    field.RefuseExternal();
                    ReadPaths(field, paths);
                    break;
                case SevenZipProperty.Attributes:
                    ReadAttributes(field, attributes);
                    break;
            }
        }

        return [.. Enumerable.Range(0, count).Select(i => new SevenZipItem(paths[i], !isEmpty[i], attributes[i]))];
    }

    private static void ReadPaths(SevenZipCursor field, string[] paths)
    {
        var bytes = field.TakeRest().Span;
        for (var i = 0; i < paths.Length; i++)
        {
            var length = 0;
            while (length + 1 < bytes.Length && BinaryPrimitives.ReadUInt16LittleEndian(bytes[length..]) != 0)
                length += sizeof(char);
            if (length + 1 >= bytes.Length)
                throw new ArchiveException(ArchiveFault.Broken, "its header is cut short");
            if (length > MaxPath * sizeof(char))
                throw new ArchiveException(ArchiveFault.Unsupported, "the name of an entry is too long");
            // Replace backslashes, because some Windows programs keep them.
            paths[i] = Encoding.Unicode.GetString(bytes[..length]).Replace('\\', '/');
            bytes = bytes[(length + sizeof(char))..];
        }
    }

    private static void ReadAttributes(SevenZipCursor field, uint[] attributes)
    {
        var isDefined = field.ReadOptionalBits(attributes.Length);
        field.RefuseExternal();
        for (var i = 0; i < attributes.Length; i++)
            attributes[i] = isDefined[i] ? field.ReadUInt32() : 0;
    }
}
