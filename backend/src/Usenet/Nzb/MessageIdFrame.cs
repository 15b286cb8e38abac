using System.Buffers.Binary;
using System.IO.Compression;
using System.Security.Cryptography;

namespace Sluice.Usenet.Nzb;

/// <summary>Up to 1,024 consecutive segments of a stored list. Uncompressed, a frame is a sequence of <see cref="PackedIds"/>.</summary>
/// <remarks>Immutable and thread-safe.</remarks>
internal sealed class MessageIdFrame
{
    /// <summary>Segments per frame, except the last. Larger frames would go on the large object heap, which keeps them until a full collection.</summary>
    public const int Capacity = 1024;

    /// <summary>Maximum uncompressed length of a frame, because the length in a table cannot be trusted.</summary>
    public const int MaxPlainLength = Capacity * PackedIds.MaxLength;

    private readonly byte[] _plain;
    private readonly int[] _offsets;

    private MessageIdFrame(byte[] plain, int[] offsets)
    {
        _plain = plain;
        _offsets = offsets;
    }

    /// <summary>Decompresses a frame and indexes its segments.</summary>
    /// <exception cref="MessageIdListException">The frame is damaged.</exception>
    public static MessageIdFrame Unpack(ReadOnlySpan<byte> packed, int plainLength, ulong check, int count)
    {
        if (Check(packed) != check)
            throw new MessageIdListException("A part of the stored list of message-ids is damaged.");

        var plain = new byte[plainLength];
        if (!BrotliDecoder.TryDecompress(packed, plain, out var written) || written != plainLength)
            throw new MessageIdListException("A part of the stored list of message-ids cannot be unpacked.");

        var offsets = new int[count];
        var offset = 0;
        for (var i = 0; i < count; i++)
        {
            offsets[i] = offset;
            offset += PackedIds.Measure(plain.AsSpan(offset)) ?? throw Malformed();
        }

        return offset == plainLength ? new MessageIdFrame(plain, offsets) : throw Malformed();
    }

    /// <summary>Returns the ids of a segment, 0-based within the frame.</summary>
    /// <exception cref="MessageIdListException">A stored id is not a message-id.</exception>
    public SegmentIds this[int index] => PackedIds.Read(_plain.AsSpan(_offsets[index])) ?? throw Malformed();

    /// <summary>Returns a check value that detects damage: the first eight bytes of the SHA-256.</summary>
    public static ulong Check(ReadOnlySpan<byte> bytes)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(bytes, hash);
        return BinaryPrimitives.ReadUInt64LittleEndian(hash);
    }

    private static MessageIdListException Malformed() => new("A part of the stored list of message-ids is malformed.");
}
