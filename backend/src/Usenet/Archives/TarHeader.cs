using System.Buffers.Binary;
using System.Text;

namespace Sluice.Usenet.Archives;

/// <summary>What a header of a tar stands for.</summary>
internal enum TarKind
{
    /// <summary>A file with its data.</summary>
    File,

    /// <summary>A folder.</summary>
    Folder,

    /// <summary>A link, a device, or something else that has a place in a file system and no data here.</summary>
    Special,

    /// <summary>A file with holes, whose data is not its bytes.</summary>
    Sparse,

    /// <summary>The rest of a file that began in another tape.</summary>
    Continuation,

    /// <summary>Its data names the next header (GNU).</summary>
    LongName,

    /// <summary>Its data changes the next header (pax).</summary>
    Pax,

    /// <summary>Its data changes all headers that follow (pax).</summary>
    GlobalPax,

    /// <summary>Something of one program alone, passed over by its length.</summary>
    Other,
}

/// <summary>A header of a tar: v7, ustar or GNU (POSIX.1-2017, pax, "ustar Interchange Format"; GNU tar, "Basic Tar Format").</summary>
/// <param name="Kind">What it stands for.</param>
/// <param name="Path">Its path.</param>
/// <param name="Length">Bytes of its data.</param>
internal readonly record struct TarHeader(TarKind Kind, string Path, long Length)
{
    /// <summary>Bytes of a header; data is filled up to a multiple of that.</summary>
    public const int Size = 512;

    private const int ChecksumOffset = 148;
    private const int ChecksumLength = 8;

    /// <summary>Whether a block is that of zeros which stands at the end.</summary>
    public static bool IsEnd(ReadOnlySpan<byte> block) => !block.ContainsAnyExcept((byte)0);

    /// <summary>Reads a header.</summary>
    /// <param name="block"><see cref="Size"/> bytes.</param>
    /// <returns>Null where they are none, or damaged.</returns>
    public static TarHeader? Read(ReadOnlySpan<byte> block)
    {
        if (block.Length < Size || !HasChecksum(block[..Size]) || Number(block.Slice(124, 12)) is not { } length)
            return null;

        var path = Text(block[..100]);
        // GNU writes other things where ustar has the front of a long path.
        var prefix = block.Slice(257, 6).SequenceEqual("ustar\0"u8) ? Text(block.Slice(345, 155)) : "";
        var kind = KindOf(block[156], path);
        return new TarHeader(kind, prefix.Length > 0 ? $"{prefix}/{path}" : path, kind is TarKind.Folder or TarKind.Special ? 0 : length);
    }

    /// <summary>Text up to the first zero; what is no UTF-8 becomes U+FFFD.</summary>
    public static string Text(ReadOnlySpan<byte> field) =>
        Encoding.UTF8.GetString(field.IndexOf((byte)0) is >= 0 and var end ? field[..end] : field);

    // Names of folders end in a slash where the program knew no type for them.
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

    // The sum of all bytes, its own counted as spaces. A few programs add them with their sign.
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

    // Octal digits between spaces and zeros; where the highest bit is set, the other bits in base 256 (GNU).
    private static long? Number(ReadOnlySpan<byte> field)
    {
        if (field[0] >= 0x80)
        {
            // Those below 2^63 have zeros in all but the last eight bytes; the others are negative, or no length of anything.
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
