using System.Buffers.Binary;
using System.Text;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Archives;

/// <summary>Parses headers of RAR 5 and 7. Pure.</summary>
/// <remarks>
/// <c>CRC32(4) SIZE(vint) TYPE(vint) FLAGS(vint) [EXTRA_SIZE(vint)] [DATA_SIZE(vint)] … [extra records]</c>; SIZE counts from TYPE, the CRC
/// covers SIZE and everything after it (technical note of RAR 5.0).
/// </remarks>
internal static class Rar5Block
{
    /// <summary>Bytes needed to determine the length of a header; no header is shorter.</summary>
    public const int StartLength = 7;

    // The size follows the checksum and takes at most three bytes.
    private const int SizeOffset = 4;
    private const int LongestSize = 3;

    private const ulong Main = 1;
    private const ulong File = 2;
    private const ulong Service = 3;
    private const ulong Encryption = 4;
    private const ulong End = 5;

    // AES-256, the only defined method.
    private const ulong Aes = 0;

    /// <summary>Returns the total length of a header; false if <paramref name="start"/> is too short or not a header.</summary>
    public static bool TryMeasure(ReadOnlySpan<byte> start, out int length)
    {
        length = 0;
        var size = 0;
        for (var i = 0; i < LongestSize && SizeOffset + i < start.Length; i++)
        {
            var next = start[SizeOffset + i];
            size |= (next & 0x7F) << (7 * i);
            if (next >= 0x80)
                continue;
            length = SizeOffset + i + 1 + size;
            if (length >= StartLength)
                return true;
            length = 0;
            return false;
        }

        return false;
    }

    /// <summary>Whether the type is valid at the start of an encrypted volume. Decrypting with a wrong key seldom yields such a type.</summary>
    public static bool MayBeEncrypted(ReadOnlySpan<byte> start, bool isFirst)
    {
        var at = SizeOffset;
        while (at < SizeOffset + LongestSize - 1 && start[at] >= 0x80)
            at++;
        return isFirst ? start[at + 1] == Main : start[at + 1] is > 0 and <= (byte)End;
    }

    /// <summary>Returns a header's length after one field grows by <paramref name="growth"/> bytes; the size field may grow too.</summary>
    public static int Grown(int length, int growth)
    {
        var size = length - SizeOffset - 1;
        while (size + VintLength(size) + SizeOffset > length)
            size--;
        return length + growth + VintLength(size + growth) - VintLength(size);
    }

    /// <summary>Returns the length of the shortest encoding of a number.</summary>
    public static int VintLength(int number)
    {
        var length = 1;
        for (; number >= 0x80; number >>= 7)
            length++;
        return length;
    }

    public static bool IsSound(ReadOnlySpan<byte> header) =>
        Crc32Kernel.Append(0, header[SizeOffset..]) == BinaryPrimitives.ReadUInt32LittleEndian(header);

    /// <summary>Parses a whole header with a valid checksum.</summary>
    /// <exception cref="ArchiveException">The header contradicts itself or cannot be streamed.</exception>
    public static RarBlock Parse(ReadOnlySpan<byte> header)
    {
        var cursor = new RarCursor(header);
        cursor.Take(SizeOffset);
        cursor.Vint();
        var type = cursor.Vint();
        var flags = cursor.Vint();
        var extraLength = (flags & 0x01) != 0 ? cursor.Vint() : 0;
        var dataLength = (flags & 0x02) != 0 ? cursor.Length() : 0;
        if (extraLength > (ulong)cursor.Left)
            throw new ArchiveException(ArchiveFault.Broken, "a header is shorter than its fields");

        var extra = header[(header.Length - (int)extraLength)..];
        var fields = new RarCursor(header[cursor.Position..(header.Length - (int)extraLength)]);
        var block = type switch
        {
            Main => ParseMain(ref fields),
            File => new RarBlock(RarBlockKind.File) { Part = ParseFile(ref fields, extra, flags) },
            Encryption => new RarBlock(RarBlockKind.Encryption) { Encryption = ParseEncryption(ref fields) },
            End => new RarBlock(RarBlockKind.End) { Continues = (fields.Vint() & 0x01) != 0 },
            _ when type == Service || (flags & 0x04) != 0 => new RarBlock(RarBlockKind.Other),
            _ => throw new ArchiveException(ArchiveFault.Unsupported, "it has a header of a kind that is not known"),
        };
        return block with { DataLength = dataLength };
    }

    /// <summary><c>ARCHIVE_FLAGS(vint) [VOLUME_NUMBER(vint)]</c>; the first volume has no number.</summary>
    private static RarBlock ParseMain(ref RarCursor fields)
    {
        var flags = fields.Vint();
        var number = (flags & 0x02) != 0 ? fields.Vint() : 0;
        if (number > ushort.MaxValue)
            throw new ArchiveException(ArchiveFault.Broken, "the number of a volume is too high");

        var isVolume = (flags & 0x01) != 0;
        return new RarBlock(RarBlockKind.Main)
        {
            Archive = RarArchiveFlags.NewNames
                | (isVolume ? RarArchiveFlags.Volume : 0)
                | (number == 0 ? RarArchiveFlags.First : 0)
                | ((flags & 0x04) != 0 ? RarArchiveFlags.Solid : 0)
                | ((flags & 0x08) != 0 ? RarArchiveFlags.Recovery : 0)
                | ((flags & 0x10) != 0 ? RarArchiveFlags.Locked : 0),
            Number = isVolume ? (int)number : null,
        };
    }

    /// <summary><c>VERSION(vint) FLAGS(vint) KDF_COUNT(1) SALT(16) [CHECK(12)]</c></summary>
    private static RarEncryption ParseEncryption(ref RarCursor fields)
    {
        if (fields.Vint() != Aes)
            throw UnknownEncryption();
        var hasCheck = (fields.Vint() & 0x01) != 0;
        var roundsLog2 = fields.Byte();
        var encryption = new RarEncryption(KeyScheme.Rar5, Convert.ToHexString(fields.Take(16)), roundsLog2);
        return hasCheck ? encryption with { Check = RarEncryption.UsableCheck(fields.Take(RarEncryption.CheckLength)) } : encryption;
    }

    /// <summary>
    /// <c>FILE_FLAGS(vint) UNPACKED_SIZE(vint) ATTRIBUTES(vint) [MTIME(4)] [CRC32(4)] COMPRESSION(vint) HOST_OS(vint) NAME_LENGTH(vint) NAME</c>
    /// </summary>
    private static RarPart ParseFile(ref RarCursor fields, ReadOnlySpan<byte> extra, ulong headerFlags)
    {
        var flags = fields.Vint();
        var unpacked = fields.Vint();
        var attributes = fields.Vint();
        var time = (flags & 0x02) != 0 ? fields.UInt32() : 0;
        var crc = (flags & 0x04) != 0 ? fields.UInt32() : (uint?)null;
        var compression = fields.Vint();
        fields.Vint();
        var name = Encoding.UTF8.GetString(fields.Take(fields.Vint()));

        var records = Rar5Extra.Parse(extra);
        var kind = records.IsLink ? RarPartKind.Link : (flags & 0x01) != 0 ? RarPartKind.Folder : RarPartKind.File;
        var isUnknown = (flags & 0x08) != 0;
        if (isUnknown && kind == RarPartKind.File)
            throw new ArchiveException(ArchiveFault.Unsupported, "the length of a file is not known");
        var method = (compression >> 7) & 0x07;
        var encryption = records.Encryption;
        var salt = encryption is null ? "" : encryption.Salt + Convert.ToHexString(encryption.Iv.Span);
        return new RarPart
        {
            Identity = new RarIdentity(
                ArchiveFormat.Rar5, name, isUnknown ? 0 : RarCursor.AsLength(unpacked), records.Time ?? time, attributes, salt),
            Kind = kind,
            Method = method == 0 ? null : $"m{method}",
            IsSplitBefore = (headerFlags & 0x08) != 0,
            IsSplitAfter = (headerFlags & 0x10) != 0,
            Crc32 = records.HasKeyedSums ? null : crc,
            Encryption = encryption,
        };
    }

    private static ArchiveException UnknownEncryption() => new(ArchiveFault.Unsupported, "it is encrypted in a way that is not known");

    /// <summary>The extra records of a file: <c>SIZE(vint) TYPE(vint) …</c> each, SIZE counts from TYPE.</summary>
    private readonly record struct Rar5Extra
    {
        private const ulong EncryptionRecord = 0x01;
        private const ulong TimeRecord = 0x03;
        private const ulong LinkRecord = 0x05;

        public RarEncryption? Encryption { get; private init; }

        /// <summary>Whether checksums depend on the password.</summary>
        public bool HasKeyedSums { get; private init; }

        public ulong? Time { get; private init; }

        public bool IsLink { get; private init; }

        public static Rar5Extra Parse(ReadOnlySpan<byte> extra)
        {
            var read = new Rar5Extra();
            var cursor = new RarCursor(extra);
            while (cursor.Left > 0)
            {
                var record = new RarCursor(cursor.Take(cursor.Vint()));
                read = record.Vint() switch
                {
                    EncryptionRecord => WithEncryption(read, ref record),
                    TimeRecord => WithTime(read, ref record),
                    LinkRecord => read with { IsLink = true },
                    _ => read,
                };
            }

            return read;
        }

        /// <summary><c>VERSION(vint) FLAGS(vint) KDF_COUNT(1) SALT(16) IV(16) [CHECK(12)]</c></summary>
        private static Rar5Extra WithEncryption(Rar5Extra read, ref RarCursor record)
        {
            if (record.Vint() != Aes)
                throw UnknownEncryption();
            var flags = record.Vint();
            var roundsLog2 = record.Byte();
            var encryption = new RarEncryption(KeyScheme.Rar5, Convert.ToHexString(record.Take(16)), roundsLog2) { Iv = record.Take(16).ToArray() };
            if ((flags & 0x01) != 0)
                encryption = encryption with { Check = RarEncryption.UsableCheck(record.Take(RarEncryption.CheckLength)) };
            return read with { Encryption = encryption, HasKeyedSums = (flags & 0x02) != 0 };
        }

        /// <summary><c>FLAGS(vint) [MTIME(4 if Unix time, else 8)] …</c></summary>
        private static Rar5Extra WithTime(Rar5Extra read, ref RarCursor record)
        {
            const ulong IsUnix = 0x01;
            const ulong HasMtime = 0x02;
            var flags = record.Vint();
            return (flags & HasMtime) == 0 ? read
                : read with { Time = (flags & IsUnix) != 0 ? record.UInt32() : record.UInt64() };
        }
    }
}
