using System.Buffers;

namespace Sluice.Usenet.Nzb;

/// <summary>The stored ids of one segment: a byte with the number of ids (0 for a hole), then the length byte and bytes of each id, primary first.</summary>
internal static class PackedIds
{
    /// <summary>Maximum ids of one segment: the primary and three fallbacks.</summary>
    public const int MaxIds = 4;

    /// <summary>Maximum length of one packed segment in bytes.</summary>
    public const int MaxLength = 1 + MaxIds * (1 + MessageId.MaxLength);

    /// <summary>Writes the ids of a segment; drops fallbacks beyond the third.</summary>
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

    /// <summary>Returns the length of the first segment in bytes; null if truncated or malformed.</summary>
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

    /// <summary>Returns the ids of the first segment, which must have been measured; null if any is not a message-id.</summary>
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

    /// <summary>Adds the missing ids of another segment, up to <see cref="MaxIds"/>, to a buffer of <see cref="MaxLength"/>.</summary>
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

    // Returns one id with its length byte.
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
