using System.IO.Hashing;
using System.Text;
using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Tools.MockNntpServer.Layouts;

/// <summary>Writes the headers of RAR 2.9 to 4 (technote.txt of RAR 4.20).</summary>
internal sealed class Rar4Writer(LayoutSource source) : RarWriter(source)
{
    private const int MainBlock = 0x73;
    private const int FileBlock = 0x74;
    private const int ServiceBlock = 0x7A;
    private const int EndBlock = 0x7B;

    // Block flags.
    private const int HasData = 0x8000;
    private const int SkipIfUnknown = 0x4000;

    private const int SaltLength = 8;
    private const int Unix = 3;
    private const int Stored = 0x30;
    private const int Compressed = 0x33;

    private static readonly byte[] Signature = [.. "Rar!"u8, 0x1A, 0x07, 0x00];

    private byte[] Salt => Source.Salt[..SaltLength];

    // The format always has a CRC field.
    protected override bool TellsCrc(LayoutFile file) => file.Entry.Kind == EntryKind.File && file.Entry.Crc != EntryCrc.None;

    protected override byte[] Opening(int volume)
    {
        var isSet = Layout.Volumes > 1 || Layout.VolumeSize is not null;
        var flags = (isSet ? 0x01 : 0) | (Layout.IsSolid ? 0x08 : 0) | (isSet && Layout.Naming != VolumeNaming.Old ? 0x10 : 0)
            | (Layout.RecoveryBytes > 0 ? 0x40 : 0) | (Layout.EncryptsHeaders ? 0x80 : 0) | (isSet && volume == 0 ? 0x0100 : 0);
        var opening = new HeaderBytes().Raw(Signature).Raw(Block(MainBlock, flags, new HeaderBytes().U16(0).U32(0)));
        if (Layout.Comment is { } comment && volume == 0)
            opening.Raw(Service("CMT", comment.Length, Crc32.HashToUInt32(Encoding.ASCII.GetBytes(comment)))).Raw(Encoding.ASCII.GetBytes(comment));
        return opening.ToArray();
    }

    // packed size, unpacked size, system, CRC, time, version, method, name length, attributes, [high halves], name, [salt]
    protected override byte[] FileHeader(RarPart part, uint crc)
    {
        var (file, entry) = (part.File, part.File.Entry);
        if (entry.Kind == EntryKind.Link)
            throw new ArgumentException("Links are laid out in RAR 5 and tar.");
        var isFolder = entry.Kind == EntryKind.Folder;
        var isLarge = entry.Length > uint.MaxValue || part.Length > uint.MaxValue;
        var flags = HasData | (part.Offset > 0 ? 0x01 : 0) | (part.GoesOn ? 0x02 : 0) | (file.IsEncrypted ? 0x0404 : 0)
            | (Layout.IsSolid && file.Index > 0 ? 0x10 : 0) | (isFolder ? 0xE0 : 0) | (isLarge ? 0x0100 : 0);
        var name = Encoding.ASCII.GetBytes(entry.Path.Replace('/', '\\'));
        var fields = new HeaderBytes()
            .U32((uint)part.Length).U32((uint)entry.Length).U8(Unix).U32(crc).U32(DosTime(file.Index)).U8(29)
            .U8(entry.IsCompressed ? Compressed : Stored).U16(name.Length).U32(isFolder ? 0x41ED : 0x81A4);
        if (isLarge)
            fields.U32(part.Length >> 32).U32(entry.Length >> 32);
        fields.Raw(name);
        if (file.IsEncrypted)
            fields.Raw(Salt);
        return Sealed(Block(FileBlock, flags, fields));
    }

    protected override MockBytes Services(int volume, IReadOnlyList<(long Offset, MockBytes Header)> headers, long end)
    {
        if (Layout.RecoveryBytes == 0)
            return MockBytes.Empty;
        var data = Source.Filler(volume, Layout.RecoveryBytes);
        return MockBytes.Join([MockBytes.Of(Service("RR", Layout.RecoveryBytes, 0).Length, () => Service("RR", Layout.RecoveryBytes, data.Crc32)), data]);
    }

    // [CRC of the volume, number of the volume]
    protected override byte[] Ending(int volume, bool isLast, uint crc)
    {
        var flags = SkipIfUnknown | (isLast ? 0 : 0x01);
        return Sealed(Layout.HasVolumeNumbers
            ? Block(EndBlock, flags | 0x0A, new HeaderBytes().U32(crc).U16(volume))
            : Block(EndBlock, flags, new HeaderBytes()));
    }

    /// <summary>Returns a block like a file block, whose name states its purpose.</summary>
    private byte[] Service(string name, int length, uint crc) => Sealed(Block(
        ServiceBlock, HasData | SkipIfUnknown,
        new HeaderBytes().U32(length).U32(length).U8(Unix).U32(crc).U32(DosTime(0)).U8(29).U8(Stored).U16(name.Length).U32(0).Text(name)));

    // CRC (lower half of CRC-32) of the rest, type, flags, total size
    private static byte[] Block(int type, int flags, HeaderBytes fields)
    {
        var body = new HeaderBytes().U8(type).U16(flags).U16(fields.Length + 7).Raw(fields.ToArray()).ToArray();
        return new HeaderBytes().U16(Crc32.HashToUInt32(body) & 0xFFFF).Raw(body).ToArray();
    }

    /// <summary>Returns the header as stored in the volume. An encrypted header follows a salt.</summary>
    private byte[] Sealed(byte[] header) => Layout.EncryptsHeaders
        ? [.. Salt, .. EncryptedBytes.Encrypt(header, Source.Key, Source.Rar4Iv)]
        : header;

    // Two seconds apart, because DOS time has that resolution.
    private static long DosTime(int index)
    {
        var time = ArticleEncoder.FirstPost.AddSeconds(2 * index);
        return ((time.Year - 1980) << 25) | (time.Month << 21) | (time.Day << 16) | (time.Hour << 11) | (time.Minute << 5) | (time.Second / 2);
    }
}
