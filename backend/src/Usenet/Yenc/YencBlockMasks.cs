using System.Numerics;
using System.Runtime.CompilerServices;

namespace Sluice.Usenet.Yenc;

/// <summary>
/// Interprets one block of 64 bytes with bit masks, bit i for byte i. Handles all hard cases at once, such as double escapes, escaped line ends and stuffed
/// dots. Vector kernels use it if neighboring bytes affect each other.
/// </summary>
internal readonly struct YencBlockMasks
{
    public const int Length = 64;

    /// <summary>Bytes needed after a block to distinguish a stuffed dot from a terminator.</summary>
    public const int LookAhead = 2;

    private const ulong OddBits = 0xAAAA_AAAA_AAAA_AAAA;

    public ulong Equal { get; init; }

    public ulong Cr { get; init; }

    public ulong Lf { get; init; }

    public ulong Dot { get; init; }

    public ulong Y { get; init; }

    /// <summary>Returns the masks of a block that begins 0 to 63 bytes later. The bits for bytes after the old block are clear.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public YencBlockMasks ShiftedBy(int bytes) => new()
    {
        Equal = Equal >> bytes,
        Cr = Cr >> bytes,
        Lf = Lf >> bytes,
        Dot = Dot >> bytes,
        Y = Y >> bytes,
    };

    /// <summary>Resolves the block. <paramref name="state"/> is the state before the block, in one of the first three contexts.</summary>
    /// <remarks><paramref name="seen"/> is the number of input bytes from the start of the block, including those after the block.</remarks>
    /// <returns>False if a keyword line or the end of the article begins, or might begin, in the block.</returns>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryResolve(ref byte block, int seen, YencState state, out YencResolvedBlock resolved)
    {
        var lineEnd = Lf & ((Cr << 1) | (state.Context == YencContext.Cr ? 1ul : 0));
        var lineStart = (lineEnd << 1) | (state.Context == YencContext.LineStart ? 1ul : 0);
        var beforeY = Equal & (Y >> 1);
        var stops = lineStart & (beforeY | (Dot & (((Cr >> 1) & (Lf >> 2)) | (beforeY >> 1))));
        var open = FindOpen(lineStart, seen);
        if (stops != 0 || (open != 0 && HasStop(ref block, seen, open)))
        {
            resolved = default;
            return false;
        }

        // In a run of '=', every other one escapes. Subtracting the runs from the odd bits above them carries through each run and leaves alternating bits
        // (simdjson's method for backslashes).
        var carry = state.Escape ? 1ul : 0;
        var potential = Equal & ~carry;
        var escaping = ((((potential << 1) | OddBits) - potential) ^ OddBits) & Equal;
        var escaped = (escaping << 1) | carry;
        resolved = new YencResolvedBlock
        {
            Keep = ~(escaping | ((Cr | Lf) & ~escaped) | (lineStart & Dot)),
            Escaping = escaping,
            Escaped = escaped,
            LineEnd = lineEnd,
            Cr = Cr,
        };
        return true;
    }

    /// <summary>Returns the line starts that the masks cannot classify, because the second byte after them lies outside the block or has not arrived.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ulong FindOpen(ulong lineStart, int seen) =>
        lineStart & (Equal | Dot) & (ulong.MaxValue << Math.Clamp(seen - LookAhead, 0, Length - LookAhead));

    /// <summary>Whether a line starts with <c>=y</c>, <c>.=y</c> or <c>.</c> CR LF, or the input is too short to tell.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    private static bool HasStop(ref byte block, int seen, ulong open)
    {
        for (; open != 0; open &= open - 1)
        {
            var at = BitOperations.TrailingZeroCount(open);
            if (at + LookAhead >= seen)
                return true;

            ref var line = ref Unsafe.Add(ref block, at);
            var second = Unsafe.Add(ref line, 1);
            var third = Unsafe.Add(ref line, 2);
            if (line == '=' ? second == 'y' : (second == '\r' && third == '\n') || (second == '=' && third == 'y'))
                return true;
        }

        return false;
    }
}

/// <summary>The meaning of the bytes of one block, bit i for byte i.</summary>
internal readonly struct YencResolvedBlock
{
    public ulong Keep { get; init; }

    public ulong Escaping { get; init; }

    /// <summary>Bytes after an escaping <c>=</c>.</summary>
    public ulong Escaped { get; init; }

    public ulong LineEnd { get; init; }

    public ulong Cr { get; init; }

    /// <summary>Returns how many of the first 1 to 64 bytes fit into <paramref name="room"/>, which is at least 1.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int Fit(int count, int room, out ulong keep)
    {
        keep = Keep & (ulong.MaxValue >> (64 - count));
        if (BitOperations.PopCount(keep) <= room)
            return count;

        // The first data byte that does not fit stays in the source.
        var left = keep;
        for (; room != 0; room--)
            left &= left - 1;
        count = BitOperations.TrailingZeroCount(left);
        keep &= (1ul << count) - 1;
        return count;
    }

    /// <summary>Returns the state after the first <paramref name="count"/> bytes, at least one.</summary>
    /// <remarks>A dot or <c>=</c> at a line start needs no context of its own, because the bytes after it were already checked.</remarks>
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
