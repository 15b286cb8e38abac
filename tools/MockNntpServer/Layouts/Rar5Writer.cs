using System.IO.Hashing;
using System.Security.Cryptography;
using System.Text;
using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Tools.MockNntpServer.Layouts;

/// <summary>Writes the headers of RAR 5.0 ("RAR 5.0 archive format", rarlab.com).</summary>
internal sealed class Rar5Writer(LayoutSource source) : RarWriter(source)
{
    private const int MainBlock = 1;
    private const int FileBlock = 2;
    private const int ServiceBlock = 3;
    private const int EncryptionBlock = 4;
    private const int EndBlock = 5;

    // Block flags.
    private const int HasExtra = 0x01;
    private const int HasData = 0x02;
    private const int SkipIfUnknown = 0x04;
    private const int FromBefore = 0x08;
    private const int GoesOn = 0x10;

    private const int Unix = 1;
    private const int MethodOfCompressed = 3;

    private static readonly byte[] Signature = [.. "Rar!"u8, 0x1A, 0x07, 0x01, 0x00];

    private readonly Lazy<byte[]> _check = new(() => CheckValue(source));

    protected override bool TellsCrc(LayoutFile file) => file.HasCrc;

    protected override byte[] Opening(int volume)
    {
        // The first volume has no number field, so readers recognize it by that.
        var isSet = Layout.Volumes > 1 || Layout.VolumeSize is not null;
        var flags = (isSet ? 0x01 : 0) | (volume > 0 ? 0x02 : 0) | (Layout.IsSolid ? 0x04 : 0) | (Layout.RecoveryBytes > 0 ? 0x08 : 0);
        var main = new HeaderBytes().Vint(flags);
        if (volume > 0)
            main.Vint(volume);
        var opening = new HeaderBytes().Raw(Signature);
        if (Layout.EncryptsHeaders)
            opening.Raw(Block(EncryptionBlock, 0, new HeaderBytes().Vint(0).Vint(_check.Value.Length > 0 ? 1 : 0).U8(Source.RoundsLog2).Raw(Source.Salt).Raw(_check.Value)));
        opening.Raw(Sealed(Block(MainBlock, 0, main), volume, 0));
        if (Layout.Comment is { } comment && volume == 0)
            opening.Raw(Service("CMT", Encoding.UTF8.GetBytes(comment).Length, volume)).Text(comment);
        return opening.ToArray();
    }

    // Header: file flags, unpacked size, attributes, time, [CRC], compression, system, name; extra: encryption, redirection.
    protected override byte[] FileHeader(RarPart part, uint crc)
    {
        var (file, entry) = (part.File, part.File.Entry);
        var isFolder = entry.Kind == EntryKind.Folder;
        var fields = new HeaderBytes()
            .Vint((isFolder ? 0x01 : 0) | 0x02 | (file.HasCrc ? 0x04 : 0))
            .Vint(entry.Kind == EntryKind.File ? entry.Length : 0)
            .Vint(isFolder ? 0x41ED : entry.Kind == EntryKind.Link ? 0xA1FF : 0x81A4)
            .U32(ArticleEncoder.FirstPost.ToUnixTimeSeconds() + file.Index);
        if (file.HasCrc)
            fields.U32(crc);
        var name = Encoding.UTF8.GetBytes(entry.Path);
        fields.Vint((Layout.IsSolid && file.Index > 0 ? 0x40 : 0) | (entry.IsCompressed ? MethodOfCompressed << 7 : 0)).Vint(Unix).Vint(name.Length).Raw(name);

        var extra = new HeaderBytes();
        if (file.IsEncrypted)
            Record(extra, new HeaderBytes().Vint(1).Vint(0).Vint(_check.Value.Length > 0 ? 1 : 0).U8(Source.RoundsLog2).Raw(Source.Salt).Raw(file.Iv).Raw(_check.Value));
        if (entry.Kind == EntryKind.Link)
            Record(extra, new HeaderBytes().Vint(5).Vint(1).Vint(0).Vint("target".Length).Text("target"));
        var flags = (part.Offset > 0 ? FromBefore : 0) | (part.GoesOn ? GoesOn : 0) | (file.Stored.Length > 0 ? HasData : 0);
        return Sealed(Block(FileBlock, flags, fields, extra, part.Length), file.Index, 1 + part.Offset);
    }

    protected override MockBytes Services(int volume, IReadOnlyList<(long Offset, MockBytes Header)> headers, long end)
    {
        var pieces = new List<MockBytes>();
        if (Layout.RecoveryBytes > 0)
        {
            pieces.Add(MockBytes.Of(Service("RR", Layout.RecoveryBytes, volume)));
            pieces.Add(Source.Filler(volume, Layout.RecoveryBytes));
            end += pieces[0].Length + pieces[1].Length;
        }

        if (Layout.HasQuickOpen)
            pieces.AddRange(QuickOpen(volume, headers, end));
        return MockBytes.Join(pieces);
    }

    protected override byte[] Ending(int volume, bool isLast, uint crc) =>
        Sealed(Block(EndBlock, SkipIfUnknown, new HeaderBytes().Vint(isLast ? 0 : 1)), volume, long.MaxValue);

    /// <summary>"Quick open header": repeats the file headers of the volume, each with the distance back to its position.</summary>
    private IEnumerable<MockBytes> QuickOpen(int volume, IReadOnlyList<(long Offset, MockBytes Header)> headers, long end)
    {
        var copies = headers.Select(header => (Back: end - header.Offset, header.Header)).ToList();
        var length = copies.Sum(copy => Copy(copy.Back, new byte[copy.Header.Length]).Length);
        return
        [
            MockBytes.Of(Service("QO", length, volume)),
            MockBytes.Of(length, () => [.. copies.SelectMany(copy => Copy(copy.Back, copy.Header.ToArray()))]),
        ];
    }

    private static byte[] Copy(long back, byte[] header)
    {
        var body = new HeaderBytes().Vint(0).Vint(back).Vint(header.Length).Raw(header);
        var sized = new HeaderBytes().Vint(body.Length).Raw(body.ToArray()).ToArray();
        return new HeaderBytes().U32(Crc32.HashToUInt32(sized)).Raw(sized).ToArray();
    }

    private byte[] Service(string name, int length, int volume)
    {
        var fields = new HeaderBytes().Vint(0).Vint(length).Vint(0).Vint(0).Vint(Unix).Vint(name.Length).Text(name);
        return Sealed(Block(ServiceBlock, SkipIfUnknown, fields, new HeaderBytes(), length), volume, name[0]);
    }

    private static void Record(HeaderBytes extra, HeaderBytes record) => extra.Vint(record.Length).Raw(record.ToArray());

    private static byte[] Block(int type, int flags, HeaderBytes fields) => Block(type, flags, fields, new HeaderBytes(), data: 0);

    // CRC-32 of the rest, size of the rest, type, flags, [extra size], [data size], fields, extra
    private static byte[] Block(int type, int flags, HeaderBytes fields, HeaderBytes extra, long data)
    {
        flags |= (extra.Length > 0 ? HasExtra : 0) | (data > 0 ? HasData : 0);
        var body = new HeaderBytes().Vint(type).Vint(flags);
        if (extra.Length > 0)
            body.Vint(extra.Length);
        if ((flags & HasData) != 0)
            body.Vint(data);
        body.Raw(fields.ToArray()).Raw(extra.ToArray());
        var sized = new HeaderBytes().Vint(body.Length).Raw(body.ToArray()).ToArray();
        return new HeaderBytes().U32(Crc32.HashToUInt32(sized)).Raw(sized).ToArray();
    }

    /// <summary>Returns the header as stored in the volume. An encrypted header follows its own initialization vector.</summary>
    private byte[] Sealed(byte[] header, int number, long place)
    {
        if (!Layout.EncryptsHeaders)
            return header;
        var iv = Source.Lot((int)(SyntheticContent.Mix((ulong)place ^ SyntheticContent.Mix((ulong)number)) >> 40), 16);
        return [.. iv, .. EncryptedBytes.Encrypt(header, Source.Key, iv)];
    }

    // 8 bytes derived from the password, and the first 4 bytes of their SHA-256.
    private static byte[] CheckValue(LayoutSource source)
    {
        if (source.Layout is not { Password: { } password, PasswordCheck: not PasswordCheck.None })
            return [];
        var value = PasswordKeys.Rar5(password, source.Salt, source.RoundsLog2).Check;
        var sum = SHA256.HashData(value)[..4];
        if (source.Layout.PasswordCheck == PasswordCheck.Damaged)
            sum[0] ^= 0xFF;
        return [.. value, .. sum];
    }
}
