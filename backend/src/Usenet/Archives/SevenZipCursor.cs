using System.Buffers.Binary;

namespace Sluice.Usenet.Archives;

/// <summary>Reads the fields of a 7z header in sequence (7zFormat.txt, "Notes about Notation").</summary>
/// <remarks>A field that exceeds the header is <see cref="ArchiveFault.Broken"/>, and every count is checked against a limit.</remarks>
internal sealed class SevenZipCursor(ReadOnlyMemory<byte> bytes)
{
    /// <summary>Maximum number of streams, folders or files in one header.</summary>
    public const int MaxItems = ArchiveBudget.BaseSteps;

    private ReadOnlyMemory<byte> _rest = bytes;

    public byte ReadByte() => Take(1).Span[0];

    /// <summary>Reads a property ID; an unknown ID yields an undefined enum value.</summary>
    public SevenZipProperty ReadProperty() => (SevenZipProperty)Math.Min(ReadNumber(), int.MaxValue);

    /// <summary>Reads <c>REAL_UINT32</c>.</summary>
    public uint ReadUInt32() => BinaryPrimitives.ReadUInt32LittleEndian(Take(sizeof(uint)).Span);

    /// <summary>Reads <c>NUMBER</c>: each leading one bit of the first byte announces one little-endian byte; its other bits are the high bits.</summary>
    public long ReadNumber()
    {
        var first = ReadByte();
        ulong value = 0;
        for (var i = 0; i < 8; i++)
        {
            var mask = 0x80 >> i;
            if ((first & mask) == 0)
                return ToLong(value | ((ulong)(first & (mask - 1)) << (8 * i)));
            value |= (ulong)ReadByte() << (8 * i);
        }

        return ToLong(value);
    }

    /// <exception cref="ArchiveException">The count exceeds the limit.</exception>
    public int ReadCount(int most = MaxItems)
    {
        var count = ReadNumber();
        return count <= most ? (int)count : throw new ArchiveException(ArchiveFault.Unsupported, "it has too many headers");
    }

    public ReadOnlyMemory<byte> Take(long count)
    {
        if (count < 0 || count > _rest.Length)
            throw new ArchiveException(ArchiveFault.Broken, "its header is cut short");
        var taken = _rest[..(int)count];
        _rest = _rest[(int)count..];
        return taken;
    }

    public ReadOnlyMemory<byte> TakeRest() => Take(_rest.Length);

    /// <summary>Skips a length-prefixed property.</summary>
    public void Skip() => Take(ReadNumber());

    /// <summary>Reads a length-prefixed property.</summary>
    public SevenZipCursor ReadSized() => new(Take(ReadNumber()));

    /// <summary>Refuses data stored in another stream.</summary>
    public void RefuseExternal()
    {
        if (ReadByte() != 0)
            throw new ArchiveException(ArchiveFault.Unsupported, "its header lies in several streams");
    }

    /// <summary>Reads <paramref name="count"/> bits, highest first.</summary>
    public bool[] ReadBits(int count)
    {
        var bits = Take((count + 7) / 8).Span;
        var values = new bool[count];
        for (var i = 0; i < count; i++)
            values[i] = (bits[i >> 3] & (0x80 >> (i & 7))) != 0;
        return values;
    }

    /// <summary>Reads bits that the header omits if all are set.</summary>
    public bool[] ReadOptionalBits(int count)
    {
        if (ReadByte() == 0)
            return ReadBits(count);
        var values = new bool[count];
        Array.Fill(values, true);
        return values;
    }

    /// <summary>Reads <paramref name="count"/> optional CRCs; null if undefined.</summary>
    public uint?[] ReadDigests(int count) => [.. ReadOptionalBits(count).Select(isDefined => isDefined ? ReadUInt32() : (uint?)null)];

    private static long ToLong(ulong value) =>
        value <= long.MaxValue ? (long)value : throw new ArchiveException(ArchiveFault.Broken, "a number in its header is too large");
}

/// <summary>Charges the lists of one header. Only the longest list counts, because a packed stream, its folder and its file are one item.</summary>
/// <remarks>Each coder of a folder beyond two costs one more step. Not thread-safe.</remarks>
internal sealed class SevenZipLists(ArchiveBudget budget)
{
    private const int UsualCoders = 2;

    private int _charged;

    /// <summary>Charges a list before it is allocated.</summary>
    public int Charge(int lines)
    {
        if (lines > _charged)
        {
            budget.TakeSteps(lines - _charged);
            _charged = lines;
        }

        return lines;
    }

    public void ChargeCoders(int coders) => budget.TakeSteps(Math.Max(0, coders - UsualCoders));
}

/// <summary>Property IDs (7zFormat.txt).</summary>
internal enum SevenZipProperty
{
    End = 0x00,
    Header = 0x01,
    ArchiveProperties = 0x02,
    AdditionalStreamsInfo = 0x03,
    MainStreamsInfo = 0x04,
    FilesInfo = 0x05,
    PackInfo = 0x06,
    UnpackInfo = 0x07,
    SubStreamsInfo = 0x08,
    Size = 0x09,
    Crc = 0x0A,
    Folder = 0x0B,
    UnpackSize = 0x0C,
    UnpackStreamCount = 0x0D,
    EmptyStream = 0x0E,
    Names = 0x11,
    Attributes = 0x15,
    EncodedHeader = 0x17,
}
