using System.Buffers.Binary;
using System.Text;

namespace Sluice.Tools.MockNntpServer.Layouts;

/// <summary>Writes little-endian header fields. Not thread-safe.</summary>
internal sealed class HeaderBytes
{
    private readonly List<byte> _bytes = [];

    public int Length => _bytes.Count;

    public byte[] ToArray() => [.. _bytes];

    public HeaderBytes U8(int value) => Number((ulong)value, 1);

    public HeaderBytes U16(long value) => Number((ulong)value, 2);

    public HeaderBytes U32(long value) => Number((ulong)value, 4);

    public HeaderBytes U64(long value) => Number((ulong)value, 8);

    public HeaderBytes Raw(ReadOnlySpan<byte> bytes)
    {
        _bytes.AddRange(bytes);
        return this;
    }

    public HeaderBytes Text(string text) => Raw(Encoding.UTF8.GetBytes(text));

    /// <summary>RAR 5.0 "vint": seven bits per byte, lowest first. The highest bit means that more bytes follow.</summary>
    public HeaderBytes Vint(long value)
    {
        var rest = (ulong)value;
        for (; rest >= 0x80; rest >>= 7)
            _bytes.Add((byte)(rest | 0x80));
        _bytes.Add((byte)rest);
        return this;
    }

    /// <summary>7zFormat.txt "UINT64": the leading ones of the first byte count the following bytes.</summary>
    public HeaderBytes Count(long value)
    {
        var extra = 0;
        while (extra < 8 && value >= 1L << (7 * (extra + 1)))
            extra++;
        var mask = (byte)~(0xFF >> extra);
        var high = extra < 7 ? (byte)(value >> (8 * extra)) : (byte)0;
        _bytes.Add((byte)(mask | high));
        return Number((ulong)value, extra);
    }

    private HeaderBytes Number(ulong value, int count)
    {
        Span<byte> bytes = stackalloc byte[8];
        BinaryPrimitives.WriteUInt64LittleEndian(bytes, value);
        return Raw(bytes[..count]);
    }
}
