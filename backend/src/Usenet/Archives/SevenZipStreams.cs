namespace Sluice.Usenet.Archives;

/// <summary>The data of one file as a range of a folder's unpacked stream. <c>Crc</c> is null if unknown.</summary>
internal readonly record struct SevenZipStream(int Folder, long Offset, long Length, uint? Crc);

/// <summary>The packed data of an archive and its unpacked streams (7zFormat.txt, "Streams Info").</summary>
/// <param name="Packed">The packed streams, as extents of volume 0.</param>
/// <param name="Folders">The folders; each consumes the next packed streams.</param>
internal sealed record SevenZipStreams(
    IReadOnlyList<ArchiveExtent> Packed, IReadOnlyList<SevenZipFolder> Folders, IReadOnlyList<SevenZipStream> Streams)
{
    public static readonly SevenZipStreams None = new([], [], []);

    /// <summary>Reads the structure after its property ID. No packed stream may exceed <paramref name="archiveLength"/> bytes.</summary>
    public static SevenZipStreams Read(SevenZipCursor cursor, long archiveLength, SevenZipLists lists)
    {
        ArchiveExtent[] packed = [];
        SevenZipFolder[] folders = [];
        IReadOnlyList<SevenZipStream>? streams = null;
        for (; ; )
        {
            switch (cursor.ReadProperty())
            {
                case SevenZipProperty.End:
                    return new SevenZipStreams(packed, folders, streams ?? OnePerFolder(folders));
                case SevenZipProperty.PackInfo:
                    packed = ReadPacked(cursor, archiveLength, lists);
                    break;
                case SevenZipProperty.UnpackInfo:
                    folders = ReadFolders(cursor, packed.Length, lists);
                    break;
                case SevenZipProperty.SubStreamsInfo:
                    streams = ReadStreams(cursor, folders, lists);
                    break;
                default:
                    throw Broken();
            }
        }
    }

    private static ArchiveExtent[] ReadPacked(SevenZipCursor cursor, long archiveLength, SevenZipLists lists)
    {
        var offset = cursor.ReadNumber();
        var packed = new ArchiveExtent[lists.Charge(cursor.ReadCount())];
        if (offset > archiveLength - SevenZipStart.Size)
            throw Broken();
        offset += SevenZipStart.Size;
        var hasSizes = packed.Length == 0;
        for (var property = cursor.ReadProperty(); property != SevenZipProperty.End; property = cursor.ReadProperty())
        {
            switch (property)
            {
                case SevenZipProperty.Size when !hasSizes:
                    hasSizes = true;
                    for (var i = 0; i < packed.Length; i++)
                    {
                        packed[i] = new ArchiveExtent(0, offset, cursor.ReadNumber());
                        if (packed[i].Length > archiveLength - offset)
                            throw Broken();
                        offset += packed[i].Length;
                    }

                    break;
                case SevenZipProperty.Crc:
                    cursor.ReadDigests(packed.Length);
                    break;
                default:
                    cursor.Skip();
                    break;
            }
        }

        return hasSizes ? packed : throw Broken();
    }

    private static SevenZipFolder[] ReadFolders(SevenZipCursor cursor, int packed, SevenZipLists lists)
    {
        if (cursor.ReadProperty() != SevenZipProperty.Folder)
            throw Broken();
        var folders = new SevenZipFolder[lists.Charge(cursor.ReadCount())];
        cursor.RefuseExternal();
        var next = 0;
        for (var i = 0; i < folders.Length; i++)
        {
            folders[i] = SevenZipFolder.Read(cursor) with { FirstPacked = next };
            lists.ChargeCoders(folders[i].Coders.Count);
            next += folders[i].PackedStreams;
            if (next > packed)
                throw Broken();
        }

        if (cursor.ReadProperty() != SevenZipProperty.UnpackSize)
            throw Broken();
        for (var i = 0; i < folders.Length; i++)
            folders[i] = folders[i] with { OutputLengths = [.. Enumerable.Range(0, folders[i].Outputs).Select(_ => cursor.ReadNumber())] };

        for (var property = cursor.ReadProperty(); property != SevenZipProperty.End; property = cursor.ReadProperty())
        {
            if (property != SevenZipProperty.Crc)
            {
                cursor.Skip();
                continue;
            }

            var digests = cursor.ReadDigests(folders.Length);
            for (var i = 0; i < folders.Length; i++)
                folders[i] = folders[i] with { Crc = digests[i] };
        }

        return folders;
    }

    private static SevenZipStream[] OnePerFolder(SevenZipFolder[] folders) =>
        [.. folders.Select((folder, i) => new SevenZipStream(i, 0, folder.Length, folder.Crc))];

    private static List<SevenZipStream> ReadStreams(SevenZipCursor cursor, SevenZipFolder[] folders, SevenZipLists lists)
    {
        var counts = Enumerable.Repeat(1, folders.Length).ToArray();
        var property = cursor.ReadProperty();
        if (property == SevenZipProperty.UnpackStreamCount)
        {
            var left = SevenZipCursor.MaxItems;
            for (var i = 0; i < counts.Length; i++)
                left -= counts[i] = cursor.ReadCount(left);
            lists.Charge(SevenZipCursor.MaxItems - left);
            property = cursor.ReadProperty();
        }

        var streams = ReadLengths(cursor, folders, counts, property == SevenZipProperty.Size);
        if (property == SevenZipProperty.Size)
            property = cursor.ReadProperty();
        for (; property != SevenZipProperty.End; property = cursor.ReadProperty())
        {
            if (property == SevenZipProperty.Crc)
                ReadCrcs(cursor, streams);
            else
                cursor.Skip();
        }

        return streams;
    }

    // Every stream of a folder but the last states its length; the last stream is the rest.
    private static List<SevenZipStream> ReadLengths(SevenZipCursor cursor, SevenZipFolder[] folders, int[] counts, bool areWritten)
    {
        var streams = new List<SevenZipStream>();
        for (var i = 0; i < counts.Length; i++)
        {
            if (counts[i] > 1 && !areWritten)
                throw Broken();
            long offset = 0;
            for (var left = counts[i]; left > 0; left--)
            {
                var length = left > 1 ? cursor.ReadNumber() : folders[i].Length - offset;
                if (length > folders[i].Length - offset)
                    throw Broken();
                streams.Add(new SevenZipStream(i, offset, length, counts[i] == 1 ? folders[i].Crc : null));
                offset += length;
            }
        }

        return streams;
    }

    // Only streams without a folder CRC have a CRC here.
    private static void ReadCrcs(SevenZipCursor cursor, List<SevenZipStream> streams)
    {
        var open = Enumerable.Range(0, streams.Count).Where(i => streams[i].Crc is null).ToList();
        var digests = cursor.ReadDigests(open.Count);
        for (var i = 0; i < open.Count; i++)
            streams[open[i]] = streams[open[i]] with { Crc = digests[i] };
    }

    private static ArchiveException Broken() => new(ArchiveFault.Broken, "the sizes in its header contradict each other");
}
