using System.Buffers.Binary;

namespace Sluice.Usenet.Media.Tracks;

/// <summary>The head of an EBML element (RFC 8794 sections 4 to 6): <c>VINT id, VINT size</c>.</summary>
/// <param name="Id">The id including its length marker.</param>
/// <param name="Length">Length of the head in bytes.</param>
/// <param name="Size">Length of the content in bytes, or <see cref="Unknown"/>.</param>
internal readonly record struct EbmlHead(uint Id, int Length, long Size)
{
    /// <summary>Longest head: four bytes of id and eight of size.</summary>
    public const int MaxLength = 12;

    /// <summary>Size of an element that ends where the next element at its level begins.</summary>
    public const long Unknown = -1;

    /// <summary>Reads a head; returns false if the bytes are invalid or too short.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out EbmlHead head)
    {
        head = default;
        if (bytes.IsEmpty || bytes[0] == 0)
            return false;
        var idLength = System.Numerics.BitOperations.LeadingZeroCount((uint)bytes[0]) - 23;
        if (idLength > 4 || bytes.Length <= idLength || bytes[idLength] == 0)
            return false;
        var id = (uint)Number(bytes[..idLength]);
        var rest = bytes[idLength..];
        var sizeLength = System.Numerics.BitOperations.LeadingZeroCount((uint)rest[0]) - 23;
        if (rest.Length < sizeLength)
            return false;
        var mask = (1UL << (7 * sizeLength)) - 1;
        var size = Number(rest[..sizeLength]) & mask;
        head = new EbmlHead(id, idLength + sizeLength, size == mask ? Unknown : (long)size);
        return true;
    }

    /// <summary>Reads a big-endian unsigned number of at most eight bytes.</summary>
    public static ulong Number(ReadOnlySpan<byte> bytes)
    {
        var number = 0UL;
        foreach (var b in bytes[..Math.Min(bytes.Length, 8)])
            number = (number << 8) | b;
        return number;
    }

    /// <summary>Reads a floating-point number of four or eight bytes; 0 for any other length.</summary>
    public static double Float(ReadOnlySpan<byte> bytes) => bytes.Length switch
    {
        4 => BinaryPrimitives.ReadSingleBigEndian(bytes),
        8 => BinaryPrimitives.ReadDoubleBigEndian(bytes),
        _ => 0,
    };
}

/// <summary>Enumerates the child elements of an element in memory. Ends at the first element that does not fit.</summary>
internal ref struct EbmlElements(ReadOnlySpan<byte> bytes)
{
    private ReadOnlySpan<byte> _rest = bytes;

    public uint Id { get; private set; }

    public ReadOnlySpan<byte> Content { get; private set; }

    public bool Next()
    {
        if (!EbmlHead.TryRead(_rest, out var head) || head.Size < 0 || head.Size > _rest.Length - head.Length)
            return false;
        Id = head.Id;
        Content = _rest.Slice(head.Length, (int)head.Size);
        _rest = _rest[(head.Length + (int)head.Size)..];
        return true;
    }
}
