using System.Buffers;

namespace Sluice.Usenet.Nzb;

/// <summary>
/// The message-ids of one segment as they are stored: one byte with their number (0 for a hole), then each id as a length byte and its
/// bytes, the primary first.
/// </summary>
internal static class PackedIds
{
    /// <summary>Most ids of one segment: the primary one and three fallbacks.</summary>
    public const int MaxIds = 4;

    /// <summary>Most bytes of one segment.</summary>
    public const int MaxLength = 1 + MaxIds * (1 + MessageId.MaxLength);

    /// <summary>Writes the ids of a segment; fallbacks beyond the third are left out.</summary>
    public static void Write(IBufferWriter<byte> output, SegmentIds ids)
    {
        if (ids.Primary.IsEmpty)
        {
            output.Write((ReadOnlySpan<byte>)[0]);
            return;
        }

        var fallbacks = Math.Min(ids.Fallbacks.Count, MaxIds - 1);
        output.Write((ReadOnlySpan<byte>)[(byte)(1 + fallbacks)]);
        Write(output, ids.Primary);
        for (var i = 0; i < fallbacks; i++)
            Write(output, ids.Fallbacks[i]);
    }

    /// <summary>How many bytes the first segment takes; null where they are cut off or malformed.</summary>
    public static int? Measure(ReadOnlySpan<byte> packed)
    {
        if (packed.IsEmpty || packed[0] > MaxIds)
            return null;

        var length = 1;
        for (var ids = packed[0]; ids > 0; ids--)
        {
            if (length >= packed.Length)
                return null;
            length += 1 + packed[length];
        }

        return length <= packed.Length ? length : null;
    }

    /// <summary>The ids of the first segment, which has been measured; null where one is no message-id.</summary>
    public static SegmentIds? Read(ReadOnlySpan<byte> packed)
    {
        if (packed[0] == 0)
            return SegmentIds.None;

        var fallbacks = packed[0] == 1 ? [] : new MessageId[packed[0] - 1];
        packed = packed[1..];
        if (!MessageId.TryParse(Take(ref packed)[1..], out var primary))
            return null;
        foreach (ref var fallback in fallbacks.AsSpan())
        {
            if (!MessageId.TryParse(Take(ref packed)[1..], out fallback))
                return null;
        }

        return new SegmentIds(primary, fallbacks);
    }

    /// <summary>Adds to the ids of a segment those of another one that it has not, as far as there is room for them.</summary>
    /// <param name="ids">Bytes of one segment, and room for <see cref="MaxLength"/>.</param>
    /// <param name="length">How many bytes are used.</param>
    /// <param name="others">The ids of the other one.</param>
    public static void Merge(Span<byte> ids, ref int length, ReadOnlySpan<byte> others)
    {
        var more = others[0];
        for (others = others[1..]; more > 0 && ids[0] < MaxIds; more--)
        {
            var id = Take(ref others);
            if (Contains(ids, id))
                continue;
            id.CopyTo(ids[length..]);
            length += id.Length;
            ids[0]++;
        }
    }

    private static bool Contains(ReadOnlySpan<byte> ids, ReadOnlySpan<byte> id)
    {
        var known = ids[0];
        for (ids = ids[1..]; known > 0; known--)
        {
            if (Take(ref ids).SequenceEqual(id))
                return true;
        }

        return false;
    }

    // One id with its length.
    private static ReadOnlySpan<byte> Take(ref ReadOnlySpan<byte> ids)
    {
        var id = ids[..(1 + ids[0])];
        ids = ids[id.Length..];
        return id;
    }

    private static void Write(IBufferWriter<byte> output, MessageId id)
    {
        output.Write((ReadOnlySpan<byte>)[(byte)id.Bytes.Length]);
        output.Write(id.Bytes);
    }
}
