using System.Buffers.Binary;
using System.Text;

namespace Sluice.Usenet.Archives;

internal enum TarKind
{
    File,

    Folder,

    /// <summary>A link, a device or another item without data.</summary>
    Special,

    /// <summary>A file with holes, whose stored data differs from its content.</summary>
    Sparse,

    /// <summary>The rest of a file that began on another tape.</summary>
    Continuation,

    /// <summary>The data is the name for the next header (GNU).</summary>
    LongName,

    /// <summary>The data overrides fields of the next header (pax).</summary>
    Pax,

    /// <summary>The data overrides fields of all following headers (pax).</summary>
    GlobalPax,

    /// <summary>A vendor extension, skipped by its length.</summary>
    Other,
}

/// <summary>A tar header: v7, ustar or GNU (POSIX.1-2017, pax, "ustar Interchange Format"; GNU tar, "Basic Tar Format").</summary>
internal readonly record struct TarHeader(TarKind Kind, string Path, long Length)
{
    /// <summary>Length of a header in bytes; data is padded to a multiple of this size.</summary>
    public const int Size = 512;

    private const int ChecksumOffset = 148;
    private const int ChecksumLength = 8;

    /// <summary>Whether the block is all zeros, which marks the end.</summary>
    public static bool IsEnd(ReadOnlySpan<byte> block) => !block.ContainsAnyExcept((byte)0);

    /// <summary>Parses a block of <see cref="Size"/> bytes; returns null if the block is damaged or not a header.</summary>
    public static TarHeader? Read(ReadOnlySpan<byte> block)
    {
        if (block.Length < Size || !HasChecksum(block[..Size]) || Number(block.Slice(124, 12)) is not { } length)
            return null;

        var path = Text(block[..100]);
        // Read the path prefix only for ustar, because GNU stores other fields there.
        var prefix = block.Slice(257, 6).SequenceEqual("ustar\0"u8) ? Text(block.Slice(345, 155)) : "";
        var kind = KindOf(block[156], path);
        return new TarHeader(kind, prefix.Length > 0 ? $"{prefix}/{path}" : path, kind is TarKind.Folder or TarKind.Special ? 0 : length);
    }

    /// <summary>Decodes text up to the first zero; invalid UTF-8 becomes U+FFFD.</summary>
    public static string Text(ReadOnlySpan<byte> field) =>
        Encoding.UTF8.GetString(field.IndexOf((byte)0) is >= 0 and var end ? field[..end] : field);

    // Check the path too, because programs without a folder type mark folders with a trailing slash.
    private static TarKind KindOf(byte type, string path) => (char)type switch
    {
        '\0' or '0' or '7' => path.EndsWith('/') ? TarKind.Folder : TarKind.File,
        '1' or '2' or '3' or '4' or '6' => TarKind.Special,
        '5' => TarKind.Folder,
        'x' or 'X' => TarKind.Pax,
        'g' => TarKind.GlobalPax,
        'L' => TarKind.LongName,
        'M' => TarKind.Continuation,
        'S' => TarKind.Sparse,
        _ => TarKind.Other,
    };

    // The sum of all bytes, with the checksum field as spaces. A few programs add signed bytes.
    private static bool HasChecksum(ReadOnlySpan<byte> block)
    {
        if (Number(block.Slice(ChecksumOffset, ChecksumLength)) is not { } expected)
            return false;
        var (unsigned, signed) = (ChecksumLength * (long)' ', ChecksumLength * (long)' ');
        for (var i = 0; i < block.Length; i++)
        {
            if (i is >= ChecksumOffset and < ChecksumOffset + ChecksumLength)
                continue;
            unsigned += block[i];
            signed += (sbyte)block[i];
        }

        return expected == unsigned || expected == signed;
    }

    // Octal digits padded with spaces and zeros, or base 256 if the highest bit is set (GNU).
    private static long? Number(ReadOnlySpan<byte> field)
    {
        if (field[0] >= 0x80)
        {
            // Lengths below 2^63 are zero in all but the last eight bytes; anything else is negative or impossible.
            var high = field[..^sizeof(long)];
            var number = BinaryPrimitives.ReadInt64BigEndian(field[^sizeof(long)..]);
            return number >= 0 && high[0] == 0x80 && !high[1..].ContainsAnyExcept((byte)0) ? number : null;
        }

        long value = 0;
        foreach (var digit in field.Trim(" \0"u8))
        {
            if (digit is < (byte)'0' or > (byte)'7')
                return null;
            value = (value << 3) | (uint)(digit - '0');
        }

        return value;
    }
}
