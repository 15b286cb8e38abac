using System.Text;

namespace Sluice.Tools.MockNntpServer.Layouts;

/// <summary>Writes a zip of stored entries (APPNOTE.TXT 6.3.10), in one volume or split.</summary>
internal static class ZipWriter
{
    private const uint LocalHeader = 0x04034B50;
    private const uint CentralHeader = 0x02014B50;
    private const uint EndRecord = 0x06054B50;
    private const uint Zip64End = 0x06064B50;
    private const uint Zip64Locator = 0x07064B50;
    private const uint SplitMarker = 0x08074B50;

    private const int Utf8Names = 0x0800;
    private const int Deflate = 8;
    private const int Folder = 0x10;

    // 2026-01-01, 0:00 (section 4.4.6).
    private const int DosDate = (46 << 9) | (1 << 5) | 1;

    public static IReadOnlyList<MockBytes> Write(LayoutSource source)
    {
        var isSplit = source.Layout.Volumes > 1 || source.Layout.VolumeSize is not null;
        var pieces = new List<MockBytes>();
        if (isSplit)
            pieces.Add(MockBytes.Of(new HeaderBytes().U32(SplitMarker).ToArray()));
        var places = new List<long>();
        foreach (var file in source.Files)
        {
            places.Add(pieces.Sum(piece => piece.Length));
            pieces.Add(MockBytes.Of(Local(source.Layout, file, 0).Length, () => Local(source.Layout, file, file.Crc)));
            pieces.Add(file.Stored);
        }

        var content = MockBytes.Join(pieces);
        if (!isSplit)
            return [MockBytes.Join([content, Directory(source, [.. places.Select(place => (0, place))], 0, content.Length)])];

        // Volumes are split anywhere in the data. The last one has the remaining data and the directory.
        var size = source.Layout.VolumeSize ?? ((content.Length + source.Layout.Volumes - 1) / source.Layout.Volumes);
        var volumes = new List<MockBytes>();
        for (long offset = 0; offset < content.Length; offset += size)
            volumes.Add(content.Slice(offset, Math.Min(size, content.Length - offset)));
        volumes[^1] = MockBytes.Join([volumes[^1], Directory(source, [.. places.Select(place => ((int)(place / size), place % size))], volumes.Count - 1, volumes[^1].Length)]);
        return volumes;
    }

    private static MockBytes Directory(LayoutSource source, IReadOnlyList<(int Disk, long Offset)> places, int disk, long start)
    {
        var blank = MakeDirectory(source, places, disk, start, withCrcs: false);
        return MockBytes.Of(blank.Length, () => MakeDirectory(source, places, disk, start, withCrcs: true));
    }

    private static byte[] MakeDirectory(LayoutSource source, IReadOnlyList<(int Disk, long Offset)> places, int disk, long start, bool withCrcs)
    {
        var directory = new HeaderBytes();
        for (var i = 0; i < source.Files.Count; i++)
            Central(directory, source.Layout, source.Files[i], places[i], withCrcs ? source.Files[i].Crc : 0);

        var (length, count) = (directory.Length, source.Files.Count);
        var isLarge = source.Layout.ForcesZip64 || start > uint.MaxValue || count >= ushort.MaxValue;
        if (isLarge)
        {
            directory.U32(Zip64End).U64(44).U16(45).U16(45).U32(disk).U32(disk).U64(count).U64(count).U64(length).U64(start);
            directory.U32(Zip64Locator).U32(disk).U64(start + length).U32(disk + 1);
        }

        return directory.U32(EndRecord).U16(disk).U16(disk).U16(isLarge ? ushort.MaxValue : count).U16(isLarge ? ushort.MaxValue : count)
            .U32(length).U32(isLarge ? uint.MaxValue : start).U16(0).ToArray();
    }

    private static byte[] Local(ArchiveLayout layout, LayoutFile file, uint crc)
    {
        var name = NameOf(file);
        var isLarge = IsLarge(layout, file);
        var header = Common(new HeaderBytes().U32(LocalHeader), file, crc, isLarge).U16(name.Length).U16(isLarge ? 20 : 0).Raw(name);
        if (isLarge)
            header.U16(1).U16(16).U64(file.Entry.Length).U64(file.Stored.Length);
        return header.ToArray();
    }

    private static void Central(HeaderBytes directory, ArchiveLayout layout, LayoutFile file, (int Disk, long Offset) place, uint crc)
    {
        var name = NameOf(file);
        var (isLarge, isFar) = (IsLarge(layout, file), place.Offset > uint.MaxValue);
        var extra = new HeaderBytes();
        if (isLarge)
            extra.U64(file.Entry.Length).U64(file.Stored.Length);
        if (isFar)
            extra.U64(place.Offset);
        Common(directory.U32(CentralHeader).U16(45), file, crc, isLarge).U16(name.Length).U16(extra.Length > 0 ? extra.Length + 4 : 0).U16(0)
            .U16(place.Disk).U16(0).U32(file.Entry.Kind == EntryKind.Folder ? Folder : 0).U32(isFar ? uint.MaxValue : place.Offset).Raw(name);
        if (extra.Length > 0)
            directory.U16(1).U16(extra.Length).Raw(extra.ToArray());
    }

    // version needed, flags, method, time, date, CRC, packed size, size
    private static HeaderBytes Common(HeaderBytes header, LayoutFile file, uint crc, bool isLarge) => header
        .U16(isLarge ? 45 : 20).U16(Utf8Names).U16(file.Entry.IsCompressed ? Deflate : 0).U16(0).U16(DosDate).U32(crc)
        .U32(isLarge ? uint.MaxValue : file.Stored.Length).U32(isLarge ? uint.MaxValue : file.Entry.Length);

    private static bool IsLarge(ArchiveLayout layout, LayoutFile file) => layout.ForcesZip64 || file.Entry.Length >= uint.MaxValue;

    private static byte[] NameOf(LayoutFile file) => Encoding.UTF8.GetBytes(file.Entry.Path + (file.Entry.Kind == EntryKind.Folder ? "/" : ""));
}

/// <summary>Writes a tar (POSIX ustar).</summary>
internal static class TarWriter
{
    private const int Record = 512;

    // Largest number in eleven octal digits. GNU tar writes larger ones in binary.
    private const long MostOctal = (1L << 33) - 1;

    public static MockBytes Write(LayoutSource source)
    {
        var pieces = new List<MockBytes>();
        foreach (var file in source.Files)
        {
            pieces.Add(MockBytes.Of(Header(file)));
            pieces.Add(file.Stored);
            pieces.Add(MockBytes.Of(new byte[(Record - (int)(file.Stored.Length % Record)) % Record]));
        }

        pieces.Add(MockBytes.Of(new byte[2 * Record]));
        return MockBytes.Join(pieces);
    }

    private static byte[] Header(LayoutFile file)
    {
        var header = new byte[Record];
        var path = file.Entry.Path + (file.Entry.Kind == EntryKind.Folder ? "/" : "");
        Put(header, 0, path.Length < 100 ? path : throw new ArgumentException("Paths in a tar are shorter than 100 characters."));
        Put(header, 100, "0000644\0");
        Put(header, 108, "0000000\0");
        Put(header, 116, "0000000\0");
        Put(header, 136, "15127277400\0");
        Put(header, 148, "        ");
        header[156] = (byte)(file.Entry.Kind switch { EntryKind.Folder => '5', EntryKind.Link => '2', _ => '0' });
        if (file.Entry.Kind == EntryKind.Link)
            Put(header, 157, "target");
        Put(header, 257, "ustar\0" + "00");
        PutSize(header.AsSpan(124, 12), file.Stored.Length);
        Put(header, 148, Octal(header.Sum(each => each), 6) + "\0 ");
        return header;
    }

    private static void PutSize(Span<byte> field, long size)
    {
        if (size <= MostOctal)
        {
            Encoding.ASCII.GetBytes(Octal(size, 11)).CopyTo(field);
            return;
        }

        field[0] = 0x80;
        System.Buffers.Binary.BinaryPrimitives.WriteInt64BigEndian(field[4..], size);
    }

    private static string Octal(long value, int digits) => Convert.ToString(value, 8).PadLeft(digits, '0');

    private static void Put(byte[] header, int at, string text) => Encoding.ASCII.GetBytes(text).CopyTo(header, at);
}
