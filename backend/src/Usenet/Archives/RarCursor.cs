using System.Buffers.Binary;

namespace Sluice.Usenet.Archives;

/// <summary>Reads the little-endian fields of one RAR header in sequence.</summary>
internal ref struct RarCursor(ReadOnlySpan<byte> bytes)
{
    // 64 bits take ten groups of seven.
    private const int LongestVint = 10;

    private readonly ReadOnlySpan<byte> _bytes = bytes;

    public int Position { get; private set; }

    public readonly int Left => _bytes.Length - Position;

    /// <exception cref="ArchiveException">Fewer bytes are left.</exception>
    public ReadOnlySpan<byte> Take(ulong count)
    {
        if (count > (ulong)Left)
            throw new ArchiveException(ArchiveFault.Broken, "a header is shorter than its fields");
        var taken = _bytes.Slice(Position, (int)count);
        Position += taken.Length;
        return taken;
    }

    public ReadOnlySpan<byte> TakeRest() => Take((ulong)Left);

    public byte Byte() => Take(1)[0];

    public ushort UInt16() => BinaryPrimitives.ReadUInt16LittleEndian(Take(2));

    public uint UInt32() => BinaryPrimitives.ReadUInt32LittleEndian(Take(4));

    public ulong UInt64() => BinaryPrimitives.ReadUInt64LittleEndian(Take(8));

    /// <summary>Reads a RAR 5 number: groups of seven bits, lowest first. The high bit of a byte means that another byte follows.</summary>
    /// <exception cref="ArchiveException">The number is unterminated or exceeds 64 bits.</exception>
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

    public long Length() => AsLength(Vint());

    /// <exception cref="ArchiveException">The length exceeds any file.</exception>
    public static long AsLength(ulong value) =>
        value <= long.MaxValue ? (long)value : throw new ArchiveException(ArchiveFault.Broken, "a length is longer than any file");
}
