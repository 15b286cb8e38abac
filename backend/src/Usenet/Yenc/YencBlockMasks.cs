using System.Numerics;
using System.Runtime.CompilerServices;

namespace Sluice.Usenet.Yenc;

/// <summary>
/// One block of 64 bytes on masks, bit i for byte i: every hard case at once, double escapes, escaped line ends, stuffed
/// dots. Vector kernels come here when bytes that matter to each other lie side by side.
/// </summary>
internal readonly ref struct YencBlockMasks
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

    /// <summary>Finds the bytes that are data.</summary>
    /// <param name="block">The first byte of the block, with <see cref="LookAhead"/> bytes behind it.</param>
    /// <param name="state">Before the block, with one of the first three contexts; after the block on return.</param>
    /// <param name="keep">Bytes that are data.</param>
    /// <param name="escaped">Those of them that follow an escaping <c>=</c>.</param>
    /// <returns>False when a keyword line or the end of the article begins in the block; nothing is changed then.</returns>
    public bool TryResolve(ref byte block, ref YencState state, out ulong keep, out ulong escaped)
    {
        var lineEnd = Lf & ((Cr << 1) | (state.Context == YencContext.Cr ? 1ul : 0));
        var lineStart = (lineEnd << 1) | (state.Context == YencContext.LineStart ? 1ul : 0);
        var stuffed = 0ul;
        for (var candidates = lineStart & (Equal | Dot); candidates != 0; candidates &= candidates - 1)
        {
            var at = BitOperations.TrailingZeroCount(candidates);
            if (IsStop(ref Unsafe.Add(ref block, at)))
            {
                keep = escaped = 0;
                return false;
            }

            stuffed |= Dot & (1ul << at);
        }

        var escaping = FindEscapes(state.Escape, out escaped);
        keep = ~(escaping | ((Cr | Lf) & ~escaped) | stuffed);
        state.Escape = escaping >> 63 != 0;
        state.Context = lineEnd >> 63 != 0 ? YencContext.LineStart
            : Cr >> 63 != 0 ? YencContext.Cr
            : YencContext.Inside;
        return true;
    }

    /// <summary><c>=y</c>, <c>.=y</c> or <c>.</c> CR LF, at the start of a line.</summary>
    private static bool IsStop(ref byte line)
    {
        var second = Unsafe.Add(ref line, 1);
        if (line == '=')
            return second == 'y';
        var third = Unsafe.Add(ref line, 2);
        return (second == '\r' && third == '\n') || (second == '=' && third == 'y');
    }

    /// <summary>
    /// In a run of <c>=</c> every second one escapes. Subtracting the runs from the odd bits above them carries through
    /// each run and leaves its alternation behind (the method of simdjson for backslashes).
    /// </summary>
    private ulong FindEscapes(bool firstIsEscaped, out ulong escaped)
    {
        var carry = firstIsEscaped ? 1ul : 0;
        var potential = Equal & ~carry;
        var codes = (((potential << 1) | OddBits) - potential) ^ OddBits;
        var escaping = codes & Equal;
        escaped = (escaping << 1) | carry;
        return escaping;
    }
}
