using System.Buffers.Binary;

namespace Sluice.Usenet.Media.Tracks;

/// <summary>The head of a box (ISO/IEC 14496-12 section 4.2): <c>size(32) type(32) [largesize(64)]</c>.</summary>
/// <param name="Type">The four letters as one number.</param>
/// <param name="Length">Length of the head in bytes.</param>
/// <param name="Size">Length of the whole box in bytes; 0 if it extends to the end of its parent.</param>
internal readonly record struct Mp4Head(uint Type, int Length, long Size)
{
    public const int MaxLength = 16;

    private const int Short = 8;

    /// <summary>Reads a head; returns false if the bytes are invalid or too short.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out Mp4Head head)
    {
        head = default;
        if (bytes.Length < Short)
            return false;
        var (length, size) = (Short, (long)BinaryPrimitives.ReadUInt32BigEndian(bytes));
        if (size == 1)
        {
            if (bytes.Length < MaxLength)
                return false;
            (length, size) = (MaxLength, BinaryPrimitives.ReadInt64BigEndian(bytes[Short..]));
        }

        head = new Mp4Head(BinaryPrimitives.ReadUInt32BigEndian(bytes[4..]), length, size);
        return size == 0 || size >= length;
    }

    /// <summary>Returns four letters as one number.</summary>
    public static uint Of(ReadOnlySpan<byte> letters) => BinaryPrimitives.ReadUInt32BigEndian(letters);
}

/// <summary>Enumerates the child boxes of a box in memory. Ends at the first box that does not fit.</summary>
internal ref struct Mp4Boxes(ReadOnlySpan<byte> bytes)
{
    private ReadOnlySpan<byte> _rest = bytes;

    public uint Type { get; private set; }

    public ReadOnlySpan<byte> Content { get; private set; }

    public bool Next()
    {
        if (!Mp4Head.TryRead(_rest, out var head))
            return false;
        var size = head.Size == 0 ? _rest.Length : head.Size;
        if (size > _rest.Length)
            return false;
        Type = head.Type;
        Content = _rest[head.Length..(int)size];
        _rest = _rest[(int)size..];
        return true;
    }

    /// <summary>Returns the content of the first box of a type; empty if absent.</summary>
    public static ReadOnlySpan<byte> Find(ReadOnlySpan<byte> bytes, ReadOnlySpan<byte> type)
    {
        var boxes = new Mp4Boxes(bytes);
        while (boxes.Next())
        {
            if (boxes.Type == Mp4Head.Of(type))
                return boxes.Content;
        }

        return [];
    }
}
