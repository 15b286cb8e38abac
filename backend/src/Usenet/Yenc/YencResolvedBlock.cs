using System.Numerics;
using System.Runtime.CompilerServices;

namespace Sluice.Usenet.Yenc;

/// <summary>What the bytes of one block are, bit i for byte i.</summary>
internal readonly struct YencResolvedBlock
{
    /// <summary>Bytes that are data.</summary>
    public ulong Keep { get; init; }

    /// <summary>Each <c>=</c> that escapes the byte after it.</summary>
    public ulong Escaping { get; init; }

    /// <summary>Bytes after one of those.</summary>
    public ulong Escaped { get; init; }

    /// <summary>Each LF that ends a line.</summary>
    public ulong LineEnd { get; init; }

    /// <summary>Each CR, escaped or not.</summary>
    public ulong Cr { get; init; }

    /// <summary>How many of the first bytes of the block have room.</summary>
    /// <param name="count">How many there are, from 1 to 64.</param>
    /// <param name="room">For how many bytes of data; at least one.</param>
    /// <param name="keep">The data among them.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int Fit(int count, int room, out ulong keep)
    {
        keep = Keep & (ulong.MaxValue >> (64 - count));
        if (BitOperations.PopCount(keep) <= room)
            return count;

        // The first byte of data without room stays in the source.
        var left = keep;
        for (; room != 0; room--)
            left &= left - 1;
        count = BitOperations.TrailingZeroCount(left);
        keep &= (1ul << count) - 1;
        return count;
    }

    /// <summary>
    /// The state after the first bytes of the block. A dot or an <c>=</c> that began a line is plain by then: the bytes
    /// behind it were looked at.
    /// </summary>
    /// <param name="count">How many, at least one.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public YencState StateAfter(int count)
    {
        var last = 1ul << (count - 1);
        return new YencState
        {
            Escape = (Escaping & last) != 0,
            Context = (LineEnd & last) != 0 ? YencContext.LineStart
                : (Cr & last) != 0 ? YencContext.Cr
                : YencContext.Inside,
        };
    }
}
