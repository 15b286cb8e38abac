using System.Buffers.Binary;

namespace Sluice.Usenet.Archives;

/// <summary>Reads the fields of a 7z header one after the other (7zFormat.txt, "Notes about Notation").</summary>
/// <remarks>Pure: every field that reaches past the end is <see cref="ArchiveFault.Broken"/>, and no count is believed before it is bounded.</remarks>
internal sealed class SevenZipCursor(ReadOnlyMemory<byte> bytes)
{
    /// <summary>The most streams, folders or files that one header may list.</summary>
    public const int MaxItems = ArchiveBudget.BaseSteps;

    private ReadOnlyMemory<byte> _rest = bytes;

    /// <summary>Reads one byte.</summary>
    public byte ReadByte() => Take(1).Span[0];

    /// <summary>Reads the number that names a property; one that is unknown is no value of the enumeration.</summary>
    public SevenZipProperty ReadProperty() => (SevenZipProperty)Math.Min(ReadNumber(), int.MaxValue);

    /// <summary>Reads <c>REAL_UINT32</c>.</summary>
    public uint ReadUInt32() => BinaryPrimitives.ReadUInt32LittleEndian(Take(sizeof(uint)).Span);

    /// <summary>
    /// Reads <c>NUMBER</c>: as many high bits as the first byte has set follow it as bytes, little endian; its other bits lie above them.
    /// </summary>
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

    /// <summary>Reads a number of things.</summary>
    /// <param name="most">The most that there may be.</param>
    /// <exception cref="ArchiveException">They are more.</exception>
    public int ReadCount(int most = MaxItems)
    {
        var count = ReadNumber();
        return count <= most ? (int)count : throw new ArchiveException(ArchiveFault.Unsupported, "it has too many headers");
    }

    /// <summary>Takes bytes as they are.</summary>
    public ReadOnlyMemory<byte> Take(long count)
    {
        if (count < 0 || count > _rest.Length)
            throw new ArchiveException(ArchiveFault.Broken, "its header is cut short");
        var taken = _rest[..(int)count];
        _rest = _rest[(int)count..];
        return taken;
    }

    /// <summary>Takes all that is left.</summary>
    public ReadOnlyMemory<byte> TakeRest() => Take(_rest.Length);

    /// <summary>Passes over a property with its length in front.</summary>
    public void Skip() => Take(ReadNumber());

    /// <summary>Reads a property that has its length in front.</summary>
    public SevenZipCursor ReadSized() => new(Take(ReadNumber()));

    /// <summary>Refuses what lies in another stream instead of here.</summary>
    public void RefuseExternal()
    {
        if (ReadByte() != 0)
            throw new ArchiveException(ArchiveFault.Unsupported, "its header lies in several streams");
    }

    /// <summary>Reads a bit for each of some things, the highest bit first.</summary>
    public bool[] ReadBits(int count)
    {
        var bits = Take((count + 7) / 8).Span;
        var values = new bool[count];
        for (var i = 0; i < count; i++)
            values[i] = (bits[i >> 3] & (0x80 >> (i & 7))) != 0;
        return values;
    }

    /// <summary>Reads bits that may be left out where all are set.</summary>
    public bool[] ReadOptionalBits(int count)
    {
        if (ReadByte() == 0)
            return ReadBits(count);
        var values = new bool[count];
        Array.Fill(values, true);
        return values;
    }

    /// <summary>Reads a CRC for each of some things; null for those that have none.</summary>
    public uint?[] ReadDigests(int count) => [.. ReadOptionalBits(count).Select(isDefined => isDefined ? ReadUInt32() : (uint?)null)];

    private static long ToLong(ulong value) =>
        value <= long.MaxValue ? (long)value : throw new ArchiveException(ArchiveFault.Broken, "a number in its header is too large");
}

/// <summary>
/// Pays for the lists of one header: a step for each line of the longest one, because a packed stream, its folder and its file are one thing, and
/// one for each coder of a folder beyond two.
/// </summary>
/// <remarks>For one header; not thread-safe.</remarks>
internal sealed class SevenZipLists(ArchiveBudget budget)
{
    private const int UsualCoders = 2;

    private int _paid;

    /// <summary>Pays for a list of so many lines before it is made.</summary>
    public int Pay(int lines)
    {
        if (lines > _paid)
        {
            budget.TakeSteps(lines - _paid);
            _paid = lines;
        }

        return lines;
    }

    /// <summary>Pays for the coders of a folder.</summary>
    public void PayCoders(int coders) => budget.TakeSteps(Math.Max(0, coders - UsualCoders));
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
