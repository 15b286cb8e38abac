using System.Buffers.Binary;

namespace Sluice.Usenet.Archives;

/// <summary>Reads the fields of one RAR header, one after the other; all numbers have their lowest byte first.</summary>
/// <param name="bytes">The header, or a part of it that ends where its fields end.</param>
internal ref struct RarCursor(ReadOnlySpan<byte> bytes)
{
    // A number of 64 bits takes ten groups of seven.
    private const int LongestVint = 10;

    private readonly ReadOnlySpan<byte> _bytes = bytes;

    /// <summary>Index of the next byte.</summary>
    public int Position { get; private set; }

    /// <summary>Bytes that are left.</summary>
    public readonly int Left => _bytes.Length - Position;

    /// <summary>Takes bytes.</summary>
    /// <exception cref="ArchiveException">There are fewer.</exception>
    public ReadOnlySpan<byte> Take(ulong count)
    {
        if (count > (ulong)Left)
            throw new ArchiveException(ArchiveFault.Broken, "a header is shorter than its fields");
        var taken = _bytes.Slice(Position, (int)count);
        Position += taken.Length;
        return taken;
    }

    /// <summary>All bytes that are left.</summary>
    public ReadOnlySpan<byte> TakeRest() => Take((ulong)Left);

    public byte Byte() => Take(1)[0];

    public ushort UInt16() => BinaryPrimitives.ReadUInt16LittleEndian(Take(2));

    public uint UInt32() => BinaryPrimitives.ReadUInt32LittleEndian(Take(4));

    public ulong UInt64() => BinaryPrimitives.ReadUInt64LittleEndian(Take(8));

    /// <summary>A number of RAR 5 in groups of seven bits, lowest first; the highest bit of a byte says that another one follows.</summary>
    /// <exception cref="ArchiveException">It does not end, or has more than 64 bits.</exception>
    public ulong Vint()
    {
        var value = 0ul;
        for (var i = 0; i < LongestVint; i++)
        {
            var next = Byte();
            var bits = next & 0x7Ful;
            if (i == LongestVint - 1 && bits > 1)
                break;
            value |= bits << (7 * i);
            if (next < 0x80)
                return value;
        }

        throw new ArchiveException(ArchiveFault.Broken, "a number in a header is too long");
    }

    /// <summary>A number that is a length in bytes.</summary>
    /// <exception cref="ArchiveException">It is none, or longer than any file.</exception>
    public long Length() => AsLength(Vint());

    /// <summary>A number as a length in bytes.</summary>
    /// <exception cref="ArchiveException">It is longer than any file.</exception>
    public static long AsLength(ulong value) =>
        value <= long.MaxValue ? (long)value : throw new ArchiveException(ArchiveFault.Broken, "a length is longer than any file");
}
