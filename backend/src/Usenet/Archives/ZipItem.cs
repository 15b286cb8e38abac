using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using System.Text.Unicode;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Archives;

/// <summary>An entry of the central directory (APPNOTE.TXT 4.3.12).</summary>
internal sealed record ZipItem
{
    private const uint Signature = 0x02014B50;
    private const uint LocalSignature = 0x04034B50;
    private const int FixedSize = 46;
    private const int LocalFixedSize = 30;

    private const ushort EncryptedFlag = 1 << 0;
    private const ushort StrongEncryptionFlag = 1 << 6;
    private const ushort Utf8Flag = 1 << 11;
    private const ushort MaskedHeadersFlag = 1 << 13;
    private const ushort WinZipAes = 99;

    private const ushort Zip64Field = 0x0001;
    private const ushort UnicodePathField = 0x7075;

    private const int Dos = 0;
    private const int Unix = 3;
    private const int MacOs = 19;
    private const uint UnixType = 0xF000;
    private const uint UnixFile = 0x8000;
    private const uint UnixFolder = 0x4000;

    /// <summary>The upper half of code page 437, the default encoding of names (APPNOTE.TXT, appendix D).</summary>
    private const string UpperHalf437 =
        "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00A0";

    public required ReadOnlyMemory<byte> Name { get; init; }

    /// <summary>Path with <c>/</c> as separator.</summary>
    public required string Path { get; init; }

    /// <summary>Compression method; 0 if stored.</summary>
    public required ushort Compression { get; init; }

    public required bool IsEncrypted { get; init; }

    /// <summary>Whether the entry is a link or another special Unix file.</summary>
    public required bool IsSpecial { get; init; }

    public required uint Crc { get; init; }

    /// <summary>Compressed length in bytes.</summary>
    public required long PackedLength { get; init; }

    /// <summary>Uncompressed length in bytes.</summary>
    public required long Length { get; init; }

    /// <summary>0-based number of the disk with the local header.</summary>
    public required long Disk { get; init; }

    /// <summary>Offset of the local header on its disk.</summary>
    public required long Offset { get; init; }

    public bool IsFolder => Path.EndsWith('/');

    /// <summary>Length of the local header up to the end of its name.</summary>
    public int LocalHeaderSize => LocalFixedSize + Name.Length;

    /// <summary>Compression method in words; null if stored.</summary>
    public string? Method => Compression switch
    {
        0 => null,
        1 => "Shrink",
        6 => "Implode",
        8 => "Deflate",
        9 => "Deflate64",
        12 => "BZip2",
        14 => "LZMA",
        93 => "Zstandard",
        95 => "XZ",
        96 => "JPEG",
        97 => "WavPack",
        98 => "PPMd",
        _ => string.Create(CultureInfo.InvariantCulture, $"method {Compression}"),
    };

    /// <summary>Reads one entry and advances <paramref name="directory"/>.</summary>
    /// <exception cref="ArchiveException">The directory is damaged.</exception>
    public static ZipItem Read(ref ReadOnlyMemory<byte> directory)
    {
        var header = directory.Span;
        if (header.Length < FixedSize || BinaryPrimitives.ReadUInt32LittleEndian(header) != Signature)
            throw Broken();
        var nameLength = BinaryPrimitives.ReadUInt16LittleEndian(header[28..]);
        var extraLength = BinaryPrimitives.ReadUInt16LittleEndian(header[30..]);
        var commentLength = BinaryPrimitives.ReadUInt16LittleEndian(header[32..]);
        if (header.Length < FixedSize + nameLength + extraLength + commentLength)
            throw Broken();

        var name = directory.Slice(FixedSize, nameLength);
        var extra = header.Slice(FixedSize + nameLength, extraLength);
        directory = directory[(FixedSize + nameLength + extraLength + commentLength)..];

        var flags = BinaryPrimitives.ReadUInt16LittleEndian(header[8..]);
        var compression = BinaryPrimitives.ReadUInt16LittleEndian(header[10..]);
        var (length, packed, offset, disk) = ReadSizes(header, FieldOf(extra, Zip64Field));
        var host = header[5];
        var type = host is Unix or MacOs ? (BinaryPrimitives.ReadUInt32LittleEndian(header[38..]) >> 16) & UnixType : 0;
        return new ZipItem
        {
            Name = name,
            Path = ReadPath(name.Span, (flags & Utf8Flag) != 0, host, FieldOf(extra, UnicodePathField)),
            Compression = compression,
            IsEncrypted = (flags & (EncryptedFlag | StrongEncryptionFlag | MaskedHeadersFlag)) != 0 || compression == WinZipAes,
            IsSpecial = type is not (0 or UnixFile or UnixFolder),
            Crc = BinaryPrimitives.ReadUInt32LittleEndian(header[16..]),
            PackedLength = packed,
            Length = length,
            Disk = disk,
            Offset = offset,
        };
    }

    /// <summary>Returns the distance from the start of the local header to the data (APPNOTE.TXT 4.3.7).</summary>
    /// <exception cref="ArchiveException">The local header belongs to another entry.</exception>
    public int DataOffset(ReadOnlySpan<byte> local)
    {
        var isSame = BinaryPrimitives.ReadUInt32LittleEndian(local) == LocalSignature
            && BinaryPrimitives.ReadUInt16LittleEndian(local[8..]) == Compression
            && BinaryPrimitives.ReadUInt16LittleEndian(local[26..]) == Name.Length
            && local[LocalFixedSize..].SequenceEqual(Name.Span)
            && (BinaryPrimitives.ReadUInt16LittleEndian(local[6..]) & EncryptedFlag) == 0;
        return isSame
            ? LocalHeaderSize + BinaryPrimitives.ReadUInt16LittleEndian(local[28..])
            : throw new ArchiveException(ArchiveFault.Broken, "the header of an entry contradicts the central directory");
    }

    // A field with all bits set is stored in the zip64 extra field instead, in this order (APPNOTE.TXT 4.5.3).
    private static (long Length, long Packed, long Offset, long Disk) ReadSizes(ReadOnlySpan<byte> header, ReadOnlySpan<byte> field)
    {
        var length = Wide(BinaryPrimitives.ReadUInt32LittleEndian(header[24..]), ref field);
        var packed = Wide(BinaryPrimitives.ReadUInt32LittleEndian(header[20..]), ref field);
        var offset = Wide(BinaryPrimitives.ReadUInt32LittleEndian(header[42..]), ref field);
        long disk = BinaryPrimitives.ReadUInt16LittleEndian(header[34..]);
        if (disk == ushort.MaxValue)
            disk = field.Length >= sizeof(uint) ? BinaryPrimitives.ReadUInt32LittleEndian(field) : throw Broken();
        return (length, packed, offset, disk);
    }

    private static long Wide(uint narrow, ref ReadOnlySpan<byte> field)
    {
        if (narrow != uint.MaxValue)
            return narrow;
        if (field.Length < sizeof(long) || BinaryPrimitives.ReadInt64LittleEndian(field) is < 0)
            throw Broken();
        var wide = BinaryPrimitives.ReadInt64LittleEndian(field);
        field = field[sizeof(long)..];
        return wide;
    }

    // An extra field is an id, a length and that many bytes; a truncated field is ignored.
    private static ReadOnlySpan<byte> FieldOf(ReadOnlySpan<byte> extra, ushort id)
    {
        while (extra.Length >= 4)
        {
            var length = BinaryPrimitives.ReadUInt16LittleEndian(extra[2..]);
            if (length > extra.Length - 4)
                break;
            if (BinaryPrimitives.ReadUInt16LittleEndian(extra) == id)
                return extra.Slice(4, length);
            extra = extra[(4 + length)..];
        }

        return [];
    }

    private static string ReadPath(ReadOnlySpan<byte> name, bool isUtf8, int host, ReadOnlySpan<byte> unicode)
    {
        // Unix programs write UTF-8 without the flag. That is safe to detect, because code page 437 text is never valid UTF-8 by chance.
        var path = IsUnicodePathOf(name, unicode) ? Encoding.UTF8.GetString(unicode[5..])
            : isUtf8 || Utf8.IsValid(name) ? Encoding.UTF8.GetString(name)
            : ByCodePage437(name);
        // APPNOTE.TXT 4.4.17.1 demands "/", but some Windows programs keep the backslash. Replace it, because no Windows name contains a backslash.
        return host == Dos ? path.Replace('\\', '/') : path;
    }

    // Version 1, then the CRC-32 of the name that the path replaces (APPNOTE.TXT 4.6.9).
    private static bool IsUnicodePathOf(ReadOnlySpan<byte> name, ReadOnlySpan<byte> field) =>
        field.Length > 5 && field[0] == 1 && BinaryPrimitives.ReadUInt32LittleEndian(field[1..]) == Crc32Kernel.Append(0, name);

    private static string ByCodePage437(ReadOnlySpan<byte> name)
    {
        var path = new StringBuilder(name.Length);
        foreach (var letter in name)
            path.Append(letter < 0x80 ? (char)letter : UpperHalf437[letter - 0x80]);
        return path.ToString();
    }

    private static ArchiveException Broken() => new(ArchiveFault.Broken, "its central directory is damaged");
}
