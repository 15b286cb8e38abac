using System.Buffers.Binary;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Archives;

/// <summary>Parses headers of RAR 2.9 to 4. Pure.</summary>
/// <remarks>
/// <c>HEAD_CRC(2) HEAD_TYPE(1) HEAD_FLAGS(2) HEAD_SIZE(2)</c>, then <c>ADD_SIZE(4)</c>, the length of the data that follows, if flag 0x8000 is
/// set. HEAD_CRC is the low half of the CRC-32 of the remaining header (technote.txt of RAR 4).
/// </remarks>
internal static class Rar4Block
{
    /// <summary>Bytes needed to determine the length of a header.</summary>
    public const int StartLength = 7;

    private const byte Main = 0x73;
    private const byte File = 0x74;
    private const byte LastOldService = 0x79;
    private const byte Service = 0x7A;
    private const byte End = 0x7B;

    private const int HasData = 0x8000;

    // File headers only: RAR 2 embedded a comment and excluded it from the checksum.
    private const int HasOldComment = 0x08;

    // The file's lengths have 64 bits.
    private const int Large = 0x100;

    // The first version with AES.
    private const int FirstWithAes = 29;

    // Length without the comment that RAR 2 embedded, because the checksum does not cover it.
    private const int MainLength = 13;

    /// <summary>Returns the total length of a header; false if <paramref name="start"/> is too short or not a header.</summary>
    public static bool TryMeasure(ReadOnlySpan<byte> start, out int length)
    {
        length = start.Length < StartLength ? 0 : BinaryPrimitives.ReadUInt16LittleEndian(start[5..]);
        if (length >= StartLength)
            return true;
        length = 0;
        return false;
    }

    /// <summary>Whether the type is valid after the main header of an encrypted volume. Decrypting with a wrong key seldom yields such a type.</summary>
    public static bool MayBeEncrypted(ReadOnlySpan<byte> start) =>
        start[2] is Service or End || (start[2] == File && (start[3] & HasOldComment) == 0);

    /// <summary>Whether the checksum is right. Blocks written by RAR 2 always pass, because their checksums are unreliable.</summary>
    public static bool IsSound(ReadOnlySpan<byte> header)
    {
        var (type, flags) = (header[2], BinaryPrimitives.ReadUInt16LittleEndian(header[3..]));
        if (type is > File and <= LastOldService || (type == File && (flags & HasOldComment) != 0))
            return true;
        if (type == Main && (flags & 0x02) != 0 && header.Length > MainLength)
            header = header[..MainLength];
        return (ushort)Crc32Kernel.Append(0, header[2..]) == BinaryPrimitives.ReadUInt16LittleEndian(header);
    }

    /// <summary>Parses a whole header with a valid checksum.</summary>
    /// <exception cref="ArchiveException">The header contradicts itself or cannot be streamed.</exception>
    public static RarBlock Parse(ReadOnlySpan<byte> header)
    {
        var cursor = new RarCursor(header);
        cursor.Take(2);
        var type = cursor.Byte();
        var flags = (int)cursor.UInt16();
        cursor.Take(2);
        return type switch
        {
            Main => new RarBlock(RarBlockKind.Main) { Archive = ArchiveFlags(flags) },
            File => ParseFile(ref cursor, flags),
            Service => new RarBlock(RarBlockKind.Other) { DataLength = ServiceLength(ref cursor, flags) },
            End => ParseEnd(ref cursor, flags),
            _ => new RarBlock(RarBlockKind.Other) { DataLength = (flags & HasData) != 0 ? cursor.UInt32() : 0 },
        };
    }

    private static RarArchiveFlags ArchiveFlags(int flags) =>
        ((flags & 0x001) != 0 ? RarArchiveFlags.Volume : 0)
        | ((flags & 0x004) != 0 ? RarArchiveFlags.Locked : 0)
        | ((flags & 0x008) != 0 ? RarArchiveFlags.Solid : 0)
        | ((flags & 0x010) != 0 ? RarArchiveFlags.NewNames : 0)
        | ((flags & 0x040) != 0 ? RarArchiveFlags.Recovery : 0)
        | ((flags & 0x080) != 0 ? RarArchiveFlags.EncryptedHeaders : 0)
        | ((flags & 0x100) != 0 ? RarArchiveFlags.First : 0);

    /// <summary>Returns the data length of a service block, which has the fields of a file.</summary>
    private static long ServiceLength(ref RarCursor cursor, int flags)
    {
        const int BetweenHalves = 21;
        var length = (ulong)cursor.UInt32();
        if ((flags & Large) == 0)
            return (long)length;
        cursor.Take(BetweenHalves);
        return RarCursor.AsLength(length | ((ulong)cursor.UInt32() << 32));
    }

    /// <summary>
    /// <c>PACK_SIZE(4) UNP_SIZE(4) HOST_OS(1) FILE_CRC(4) FTIME(4) UNP_VER(1) METHOD(1) NAME_SIZE(2) ATTR(4) [HIGH_PACK_SIZE(4) HIGH_UNP_SIZE(4)]
    /// FILE_NAME [SALT(8)] [EXT_TIME]</c>
    /// </summary>
    private static RarBlock ParseFile(ref RarCursor cursor, int flags)
    {
        var packed = (ulong)cursor.UInt32();
        var unpacked = (ulong)cursor.UInt32();
        var host = cursor.Byte();
        var crc = cursor.UInt32();
        var time = cursor.UInt32();
        var version = cursor.Byte();
        var method = cursor.Byte();
        var nameLength = cursor.UInt16();
        var attributes = cursor.UInt32();
        var isUnknown = unpacked == uint.MaxValue;
        if ((flags & Large) != 0)
        {
            packed |= (ulong)cursor.UInt32() << 32;
            var high = cursor.UInt32();
            isUnknown &= high == uint.MaxValue;
            unpacked |= (ulong)high << 32;
        }

        var name = Rar4Name.Read(cursor.Take(nameLength), hasUnicode: (flags & 0x200) != 0);
        var block = new RarBlock(RarBlockKind.File) { DataLength = RarCursor.AsLength(packed) };
        if ((flags & HasOldComment) != 0)
            throw new ArchiveException(ArchiveFault.Unsupported, "it is older than RAR 2.9");
        var isEncrypted = (flags & 0x04) != 0;
        var salt = isEncrypted && (flags & 0x400) != 0 ? Convert.ToHexString(cursor.Take(8)) : "";
        var kind = KindOf(flags, host, attributes);
        if (kind == RarPartKind.File && isUnknown)
            throw new ArchiveException(ArchiveFault.Unsupported, "the length of a file is not known");
        if (kind == RarPartKind.File && isEncrypted && version < FirstWithAes)
            throw new ArchiveException(ArchiveFault.Unsupported, "it is encrypted as before RAR 2.9");
        var part = new RarPart
        {
            Identity = new RarIdentity(ArchiveFormat.Rar4, name, isUnknown ? 0 : RarCursor.AsLength(unpacked), time, attributes, salt),
            Kind = kind,
            Method = method == '0' ? null : $"m{method - '0'}",
            IsSplitBefore = (flags & 0x01) != 0,
            IsSplitAfter = (flags & 0x02) != 0,
            Crc32 = crc,
            Encryption = isEncrypted ? new RarEncryption(KeyScheme.Rar4, salt, RoundsLog2: 0) : null,
        };
        return block with { Part = part };
    }

    private static RarPartKind KindOf(int flags, byte host, uint attributes)
    {
        const byte Dos = 0;
        const byte Windows = 2;
        const byte Unix = 3;
        const int FolderFlags = 0xE0;
        if ((flags & FolderFlags) == FolderFlags || (host is Dos or Windows && (attributes & 0x10) != 0))
            return RarPartKind.Folder;
        return host == Unix && (attributes & 0xF000) == 0xA000 ? RarPartKind.Link : RarPartKind.File;
    }

    /// <summary><c>[ARC_DATA_CRC(4)] [VOLUME_NUMBER(2)]</c></summary>
    private static RarBlock ParseEnd(ref RarCursor cursor, int flags)
    {
        if ((flags & 0x02) != 0)
            cursor.UInt32();
        return new RarBlock(RarBlockKind.End)
        {
            Continues = (flags & 0x01) != 0,
            Number = (flags & 0x08) != 0 ? cursor.UInt16() : null,
        };
    }
}
