using System.IO.Hashing;
using System.Text;
using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Tools.MockNntpServer.Layouts;

/// <summary>Writes a 7z archive of stored entries (7zFormat.txt of the LZMA SDK): signature header, data, header at the end.</summary>
internal sealed class SevenZipWriter(LayoutSource source)
{
    private const int SignatureLength = 32;
    private const int Lzma2Chunk = 1 << 16;

    // Property ids.
    private const int End = 0x00;
    private const int Header = 0x01;
    private const int MainStreamsInfo = 0x04;
    private const int FilesInfo = 0x05;
    private const int PackInfo = 0x06;
    private const int UnpackInfo = 0x07;
    private const int SubStreamsInfo = 0x08;
    private const int Sizes = 0x09;
    private const int Digests = 0x0A;
    private const int Folder = 0x0B;
    private const int UnpackSizes = 0x0C;
    private const int UnpackStreams = 0x0D;
    private const int EmptyStream = 0x0E;
    private const int EmptyFile = 0x0F;
    private const int Names = 0x11;
    private const int Times = 0x14;
    private const int Attributes = 0x15;
    private const int EncodedHeader = 0x17;

    private ArchiveLayout Layout => source.Layout;

    private List<LayoutFile> WithData => [.. source.Files.Where(file => file.Entry is { Kind: EntryKind.File, Length: > 0 })];

    public MockBytes Write()
    {
        var data = MockBytes.Join(WithData.Select(file => file.Stored));
        var (packed, last) = EndOf(data.Length, withCrcs: false);
        var tail = MockBytes.Of(packed.Length + last.Length, () =>
        {
            var made = EndOf(data.Length, withCrcs: true);
            return [.. made.Packed, .. made.Last];
        });
        var signature = MockBytes.Of(SignatureLength, () => Signature(data.Length + packed.Length, tail.Slice(packed.Length, last.Length).ToArray()));
        return MockBytes.Join([signature, data, tail]);
    }

    // signature, version, CRC of the rest, offset, length and CRC of the next header
    private static byte[] Signature(long offset, byte[] next)
    {
        var start = new HeaderBytes().U64(offset).U64(next.Length).U32(Crc32.HashToUInt32(next)).ToArray();
        return new HeaderBytes().Raw([(byte)'7', (byte)'z', 0xBC, 0xAF, 0x27, 0x1C, 0, 4]).U32(Crc32.HashToUInt32(start)).Raw(start).ToArray();
    }

    /// <summary>Returns the bytes after the data: the header, or a packed header followed by a header that describes it.</summary>
    private (byte[] Packed, byte[] Last) EndOf(long data, bool withCrcs)
    {
        var header = MakeHeader(withCrcs);
        if (!Layout.PacksHeader && !Layout.EncryptsHeaders)
            return ([], header);

        var packed = Layout.PacksHeader ? Lzma2(header) : header;
        var coders = new List<Coder>();
        if (Layout.EncryptsHeaders)
        {
            var iv = source.Lot(1_000_000, 16);
            coders.Add(new Coder(Aes(iv), packed.Length));
            packed = EncryptedBytes.Encrypt(packed, source.Key, iv);
        }

        if (Layout.PacksHeader)
            coders.Add(new Coder([0x21, 0x21, 1, 24], header.Length));
        var info = new HeaderBytes().U8(EncodedHeader);
        Pack(info, data, [packed.Length]);
        info.U8(UnpackInfo).U8(Folder).Count(1).U8(0);
        Chain(info, coders);
        info.U8(UnpackSizes);
        coders.ForEach(coder => info.Count(coder.Length));
        info.U8(Digests).U8(1).U32(Crc32.HashToUInt32(header)).U8(End).U8(End);
        return (packed, info.ToArray());
    }

    private byte[] MakeHeader(bool withCrcs)
    {
        var header = new HeaderBytes().U8(Header);
        if (WithData.Count > 0)
            Streams(header, withCrcs);
        Files(header);
        return header.U8(End).ToArray();
    }

    private void Streams(HeaderBytes header, bool withCrcs)
    {
        var folders = Layout.SharesFolder ? [WithData] : WithData.Select(file => new List<LayoutFile> { file }).ToList();
        header.U8(MainStreamsInfo);
        Pack(header, 0, [.. folders.Select(folder => folder.Sum(file => file.Stored.Length))]);

        header.U8(UnpackInfo).U8(Folder).Count(folders.Count).U8(0);
        var coders = folders.Select(folder => CodersOf(folder[0], folder.Sum(file => file.Entry.Length))).ToList();
        coders.ForEach(each => Chain(header, each));
        header.U8(UnpackSizes);
        coders.ForEach(each => each.ForEach(coder => header.Count(coder.Length)));
        header.U8(End).U8(SubStreamsInfo);

        if (folders.Exists(folder => folder.Count != 1))
        {
            header.U8(UnpackStreams);
            folders.ForEach(folder => header.Count(folder.Count));
            header.U8(Sizes);
            foreach (var file in folders.SelectMany(folder => folder.SkipLast(1)))
                header.Count(file.Entry.Length);
        }

        Crcs(header, withCrcs);
        header.U8(End).U8(End);
    }

    private void Crcs(HeaderBytes header, bool withCrcs)
    {
        var told = WithData.ConvertAll(file => file.HasCrc);
        if (!told.Contains(true))
            return;
        header.U8(Digests).U8(told.Contains(false) ? 0 : 1);
        if (told.Contains(false))
            header.Raw(Bits(told));
        foreach (var file in WithData.Where(file => file.HasCrc))
            header.U32(withCrcs ? file.Crc : 0);
    }

    private void Files(HeaderBytes header)
    {
        header.U8(FilesInfo).Count(source.Files.Count);
        var isEmpty = source.Files.Select(file => !WithData.Contains(file)).ToList();
        if (isEmpty.Contains(true))
        {
            Property(header, EmptyStream, new HeaderBytes().Raw(Bits(isEmpty)));
            Property(header, EmptyFile, new HeaderBytes().Raw(Bits([.. source.Files.Where((_, index) => isEmpty[index]).Select(file => file.Entry.Kind == EntryKind.File)])));
        }

        var (names, times, attributes) = (new HeaderBytes().U8(0), new HeaderBytes().U8(1).U8(0), new HeaderBytes().U8(1).U8(0));
        foreach (var file in source.Files)
        {
            names.Raw(Encoding.Unicode.GetBytes(file.Entry.Path + '\0'));
            times.U64(ArticleEncoder.FirstPost.ToFileTime());
            attributes.U32(file.Entry.Kind == EntryKind.Folder ? 0x10 : 0x20);
        }

        Property(header, Names, names);
        Property(header, Times, times);
        Property(header, Attributes, attributes);
        header.U8(End);
    }

    private List<Coder> CodersOf(LayoutFile file, long length)
    {
        if (file.Entry.IsCompressed)
            return [new Coder([0x23, 3, 1, 1, 5, 0x5D, 0, 0, 1, 0], length)];
        var copy = new Coder([0x01, 0x00], length);
        return file.IsEncrypted ? [new Coder(Aes(file.Iv), length), copy] : [copy];
    }

    // flags and id length, id, properties length: rounds with the flag for a vector, vector length minus one, the vector
    private byte[] Aes(byte[] iv) => [0x24, 0x06, 0xF1, 0x07, 0x01, (byte)(2 + iv.Length), (byte)(0x40 | source.RoundsLog2), (byte)(iv.Length - 1), .. iv];

    // Each coder except the first reads the output of the previous one.
    private static void Chain(HeaderBytes header, List<Coder> coders)
    {
        header.Count(coders.Count);
        coders.ForEach(coder => header.Raw(coder.Description));
        for (var i = 1; i < coders.Count; i++)
            header.Count(i).Count(i - 1);
    }

    private static void Pack(HeaderBytes header, long offset, IReadOnlyList<long> lengths)
    {
        header.U8(PackInfo).Count(offset).Count(lengths.Count).U8(Sizes);
        foreach (var length in lengths)
            header.Count(length);
        header.U8(End);
    }

    private static void Property(HeaderBytes header, int id, HeaderBytes content) => header.U8(id).Count(content.Length).Raw(content.ToArray());

    private static byte[] Bits(List<bool> flags)
    {
        var bits = new byte[(flags.Count + 7) / 8];
        for (var i = 0; i < flags.Count; i++)
            bits[i / 8] |= (byte)(flags[i] ? 0x80 >> (i % 8) : 0);
        return bits;
    }

    // Uncompressed chunks: 1 (first chunk, resets the dictionary) or 2, length minus one with the high byte first, bytes. A 0 ends the
    // stream.
    private static byte[] Lzma2(byte[] header)
    {
        var packed = new HeaderBytes();
        for (var offset = 0; offset < header.Length; offset += Lzma2Chunk)
        {
            var length = Math.Min(Lzma2Chunk, header.Length - offset);
            packed.U8(offset == 0 ? 1 : 2).U8((length - 1) >> 8).U8((length - 1) & 0xFF).Raw(header.AsSpan(offset, length));
        }

        return packed.U8(0).ToArray();
    }

    /// <summary>A coder's description in the header, and its output length.</summary>
    private readonly record struct Coder(byte[] Description, long Length);
}
