using System.Buffers.Binary;
using System.IO.Compression;
using System.Security.Cryptography;

namespace Sluice.Usenet.Nzb;

/// <summary>
/// A stretch of at most 1,024 segments of a stored list. Plain form, per segment: one byte with the number of its ids
/// (0 for a hole), then each id as a length byte and its bytes, the primary first.
/// </summary>
/// <remarks>Immutable and thread-safe.</remarks>
internal sealed class MessageIdFrame
{
    /// <summary>
    /// Segments per frame, but for the last. More would be large objects: what a player who jumps about leaves behind at each jump,
    /// and nobody collects for long.
    /// </summary>
    public const int Capacity = 1024;

    /// <summary>Most ids of one segment: the primary one and three fallbacks.</summary>
    public const int MaxIds = 4;

    /// <summary>Most plain bytes of a frame; nothing is allocated beyond it on the word of a table.</summary>
    public const int MaxPlainLength = Capacity * (1 + MaxIds * (1 + MessageId.MaxLength));

    private readonly byte[] _plain;
    private readonly int[] _offsets;

    private MessageIdFrame(byte[] plain, int[] offsets)
    {
        _plain = plain;
        _offsets = offsets;
    }

    /// <summary>Undoes the compression of a frame and finds its segments.</summary>
    /// <exception cref="MessageIdListException">The bytes are not what was written.</exception>
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
            var ids = offset < plainLength ? plain[offset++] : throw Malformed();
            if (ids > MaxIds)
                throw Malformed();
            for (; ids > 0; ids--)
            {
                if (offset >= plainLength)
                    throw Malformed();
                offset += 1 + plain[offset];
            }
        }

        return offset == plainLength ? new MessageIdFrame(plain, offsets) : throw Malformed();
    }

    /// <summary>The ids of a segment, 0-based within the frame.</summary>
    /// <exception cref="MessageIdListException">What is stored is no message-id.</exception>
    public SegmentIds this[int index]
    {
        get
        {
            var offset = _offsets[index];
            int ids = _plain[offset++];
            if (ids == 0)
                return SegmentIds.None;

            var primary = Next();
            var fallbacks = ids == 1 ? [] : new MessageId[ids - 1];
            for (var i = 0; i < fallbacks.Length; i++)
                fallbacks[i] = Next();
            return new SegmentIds(primary, fallbacks);

            MessageId Next()
            {
                var bytes = _plain.AsSpan(offset + 1, _plain[offset]);
                offset += 1 + bytes.Length;
                return MessageId.TryParse(bytes, out var id) ? id : throw Malformed();
            }
        }
    }

    /// <summary>Recognises damage: the first eight bytes of the SHA-256.</summary>
    public static ulong Check(ReadOnlySpan<byte> bytes)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(bytes, hash);
        return BinaryPrimitives.ReadUInt64LittleEndian(hash);
    }

    private static MessageIdListException Malformed() => new("A part of the stored list of message-ids is malformed.");
}
