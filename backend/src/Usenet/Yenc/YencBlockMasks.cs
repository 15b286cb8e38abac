using System.Numerics;
using System.Runtime.CompilerServices;

namespace Sluice.Usenet.Yenc;

/// <summary>
/// One block of 64 bytes on masks, bit i for byte i: every hard case at once, double escapes, escaped line ends, stuffed
/// dots. Vector kernels come here when bytes that matter to each other lie side by side.
/// </summary>
internal readonly struct YencBlockMasks
{
    /// <summary>Bytes of a block.</summary>
    public const int Length = 64;

    /// <summary>Bytes that have to be there behind a block, to tell a stuffed dot from a terminator.</summary>
    public const int LookAhead = 2;

    private const ulong OddBits = 0xAAAA_AAAA_AAAA_AAAA;

    /// <summary>Bytes that are the character <c>=</c>.</summary>
    public ulong Equal { get; init; }

    /// <summary>Bytes that are CR.</summary>
    public ulong Cr { get; init; }

    /// <summary>Bytes that are LF.</summary>
    public ulong Lf { get; init; }

    /// <summary>Bytes that are dots.</summary>
    public ulong Dot { get; init; }

    /// <summary>Bytes that are the letter y.</summary>
    public ulong Y { get; init; }

    /// <summary>The masks of the block that begins some bytes later; there is nothing known behind the old one.</summary>
    /// <param name="bytes">From 0 to 63.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public YencBlockMasks ShiftedBy(int bytes) => new()
    {
        Equal = Equal >> bytes,
        Cr = Cr >> bytes,
        Lf = Lf >> bytes,
        Dot = Dot >> bytes,
        Y = Y >> bytes,
    };

    /// <summary>Finds the bytes that are data.</summary>
    /// <param name="block">The first byte of the block.</param>
    /// <param name="seen">How many bytes from there on are input, those behind the block included.</param>
    /// <param name="state">Before the block, with one of the first three contexts.</param>
    /// <param name="resolved">What the bytes are.</param>
    /// <returns>False when a keyword line or the end of the article begins in the block, or might.</returns>
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

        // In a run of '=' every second one escapes. Subtracting the runs from the odd bits above them carries through each
        // run and leaves its alternation behind (the method of simdjson for backslashes).
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

    /// <summary>Starts of lines that the masks cannot judge, because the second byte behind them lies behind the block or has not arrived.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private ulong FindOpen(ulong lineStart, int seen) =>
        lineStart & (Equal | Dot) & (ulong.MaxValue << Math.Clamp(seen - LookAhead, 0, Length - LookAhead));

    /// <summary>True where a line starts with <c>=y</c>, <c>.=y</c> or <c>.</c> CR LF, or where that cannot be known yet.</summary>
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
