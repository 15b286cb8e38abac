using System.Buffers.Binary;
using System.Text;

namespace Sluice.Usenet.Archives;

/// <summary>A file, folder or link as the header lists it.</summary>
/// <param name="Path">Its path, separated by <c>/</c>.</param>
/// <param name="HasStream">Whether it takes the next stream; folders, empty files and anti items take none.</param>
/// <param name="Attributes">Those of Windows in the low half; where bit 15 is set, the mode of Unix in the high half.</param>
internal readonly record struct SevenZipItem(string Path, bool HasStream, uint Attributes)
{
    private const uint WindowsFolder = 0x10;
    private const uint WindowsReparsePoint = 0x400;
    private const uint HasUnixMode = 0x8000;
    private const uint UnixType = 0xF000;
    private const uint UnixFile = 0x8000;
    private const uint UnixFolder = 0x4000;

    /// <summary>Whether it is a folder.</summary>
    public bool IsFolder => Type is { } type ? type == UnixFolder : (Attributes & WindowsFolder) != 0;

    /// <summary>Whether its stream is no content of a file: a link or another special file.</summary>
    public bool IsSpecial => (Attributes & WindowsReparsePoint) != 0 || Type is not (null or UnixFile or UnixFolder);

    private uint? Type => (Attributes & HasUnixMode) != 0 && ((Attributes >> 16) & UnixType) is not 0 and var type ? type : null;
}

/// <summary>The header of a 7z archive once it is unpacked (7zFormat.txt, "Header").</summary>
/// <param name="Streams">Where the data lies.</param>
/// <param name="Items">What it lists, in order.</param>
internal sealed record SevenZipHeader(SevenZipStreams Streams, IReadOnlyList<SevenZipItem> Items)
{
    /// <summary>More UTF-16 units than any system allows in a path.</summary>
    private const int MaxPath = 32_768;

    /// <summary>Reads a header from behind its property ID.</summary>
    /// <param name="cursor">Where it is read.</param>
    /// <param name="archiveLength">Length of the archive in bytes.</param>
    /// <param name="budget">Pays for its lists.</param>
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
        var count = lists.Pay(cursor.ReadCount());
        var isEmpty = new bool[count];
        var paths = new string[count];
        var attributes = new uint[count];
        Array.Fill(paths, "");
        // Times, comments, the kinds of empty items and the padding of kDummy are passed over by their lengths.
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
            // Some programs of Windows leave its own separator.
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
