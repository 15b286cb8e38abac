using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Sluice.Usenet.Yenc;

/// <summary>What a vector kernel does in its own instructions; the rest of it is <see cref="YencBlockKernel{TVectors}"/>.</summary>
internal interface IYencVectors
{
    /// <summary>
    /// Decodes blocks of 64 bytes in which no two neighbours have to be judged together: after an <c>=</c> comes neither
    /// CR, LF, <c>=</c> nor <c>y</c>, and after an LF no dot. Returns at the first other block, or where source or
    /// destination hold no further one.
    /// </summary>
    /// <param name="source">Has at least one byte before <paramref name="consumed"/>, and an <c>=</c> there escapes.</param>
    /// <param name="destination">Is written in whole blocks.</param>
    /// <param name="consumed">Moves on by whole blocks.</param>
    /// <param name="written">Moves on by the number of bytes that were kept.</param>
    /// <remarks>
    /// A method of its own without a call in it: a calling convention that preserves no vector registers would reload
    /// every constant each round.
    /// </remarks>
    void RunFast(ReadOnlySpan<byte> source, Span<byte> destination, ref int consumed, ref int written);

    /// <summary>The masks of one block.</summary>
    YencBlockMasks Find(ref byte block);

    /// <summary>Decodes one block by masks.</summary>
    /// <param name="from">The block.</param>
    /// <param name="to">Room for a whole block.</param>
    /// <param name="keep">Bytes that are data.</param>
    /// <param name="escaped">Those of them that are escaped.</param>
    /// <returns>How many are kept.</returns>
    int Write(ref byte from, ref byte to, ulong keep, ulong escaped);
}

/// <summary>What vector kernels share: the way from block to block of 64 bytes, and over the ends of buffers.</summary>
/// <remarks>
/// The fast loop knows a byte and its predecessor, which it loads from one byte before. Where two bytes have to be judged
/// together the block is resolved on masks, and so are parts of blocks at the ends of source and destination: a call that
/// ends at an arbitrary place costs no more than that. The byte machine is left with keywords and the end of the article.
/// </remarks>
/// <typeparam name="TVectors">A struct, so that its methods are compiled into these.</typeparam>
internal sealed class YencBlockKernel<TVectors>(string name, TVectors vectors) : YencKernel
    where TVectors : struct, IYencVectors
{
    private const int Block = YencBlockMasks.Length;
    private const int Whole = Block + YencBlockMasks.LookAhead;

    // A fast run that ends sooner has not paid for its mispredicted end, so that many blocks are taken by masks.
    private const int ShortRun = 4 * Block;
    private const int BlocksAfterShortRun = 16;

    public override string Name => name;

    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    public override YencStop Decode(
        ReadOnlySpan<byte> source, Span<byte> destination, ref YencState state, out int consumed, out int written)
    {
        consumed = written = 0;
        do
        {
            while (state.Context > YencContext.Cr && consumed < source.Length)
            {
                var early = RunBytes(source.Slice(consumed, 1), destination, ref state, ref consumed, ref written);
                if (early != YencStop.NeedInput)
                    return early;
            }
        }
        while (!state.BareLineFeeds && RunBlocks(source, destination, ref state, ref consumed, ref written));

        return consumed == source.Length
            ? YencStop.NeedInput
            : RunBytes(source[consumed..], destination, ref state, ref consumed, ref written);
    }

    private static YencStop RunBytes(
        ReadOnlySpan<byte> source, Span<byte> destination, ref YencState state, ref int consumed, ref int written)
    {
        var stop = YencByteKernel.Run(source, destination[written..], ref state, out var more, out var moreOut);
        consumed += more;
        written += moreOut;
        return stop;
    }

    /// <summary>Decodes up to the end of source or destination, or up to a byte that only the byte machine can judge.</summary>
    /// <returns>True when the byte machine has to look at a byte or two only.</returns>
    [MethodImpl(MethodImplOptions.AggressiveOptimization | MethodImplOptions.NoInlining)]
    private bool RunBlocks(ReadOnlySpan<byte> source, Span<byte> destination, ref YencState state, ref int consumed, ref int written)
    {
        ref var from = ref MemoryMarshal.GetReference(source);
        ref var to = ref MemoryMarshal.GetReference(destination);
        var byMasks = 1;
        while (source.Length - consumed >= Whole && destination.Length - written >= Block)
        {
            // The first block of a call has no byte before it, so it always comes here.
            ref var block = ref Unsafe.Add(ref from, consumed);
            if (!vectors.Find(ref block).TryResolve(ref block, Whole, state, out var resolved))
                return false;
            written += vectors.Write(ref block, ref Unsafe.Add(ref to, written), resolved.Keep, resolved.Escaped);
            consumed += Block;
            state = resolved.StateAfter(Block);

            // An escaped '=' would pass for an escaping one in the fast loop.
            if (--byMasks > 0 || (Unsafe.Add(ref block, Block - 1) == '=' && !state.Escape))
                continue;

            var before = consumed;
            vectors.RunFast(source, destination, ref consumed, ref written);
            if (consumed != before)
                state = StateBehind(ref Unsafe.Add(ref from, consumed));
            if (state.Context > YencContext.Cr)
                return true;
            byMasks = consumed - before < ShortRun ? BlocksAfterShortRun : 1;
        }

        while (consumed < source.Length && written < destination.Length)
        {
            if (!TryRunPart(source, destination, ref state, ref consumed, ref written))
                return false;
        }

        return false;
    }

    /// <summary>What the fast loop leaves behind: it has seen no pair that matters, so a last <c>=</c> escapes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static YencState StateBehind(ref byte end)
    {
        var last = Unsafe.Subtract(ref end, 1);
        var second = Unsafe.Subtract(ref end, 2);
        return new YencState
        {
            Escape = last == '=',
            Context = last == '\r' ? YencContext.Cr
                : last == '\n' && second == '\r' ? YencContext.LineStart
                : last == '=' && second == '\n' && Unsafe.Subtract(ref end, 3) == '\r' ? YencContext.Equals
                : YencContext.Inside,
        };
    }

    /// <summary>Decodes less than a block, because there is no more input or no room for more output.</summary>
    /// <returns>False when a keyword line or the end of the article may begin there; nothing is changed then.</returns>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    private bool TryRunPart(ReadOnlySpan<byte> source, Span<byte> destination, ref YencState state, ref int consumed, ref int written)
    {
        if (source.Length < Block)
            return TryRunShort(source, destination, ref state, ref consumed, ref written);

        // The block is taken from before the end of the source, and its masks are shifted to where it should begin.
        var rest = source.Length - consumed;
        var behind = Math.Max(0, Block - rest);
        ref var first = ref Unsafe.Add(ref MemoryMarshal.GetReference(source), consumed);
        ref var window = ref Unsafe.Subtract(ref first, behind);
        if (!vectors.Find(ref window).ShiftedBy(behind).TryResolve(ref first, rest, state, out var resolved))
            return false;

        var room = destination[written..];
        var taken = resolved.Fit(Math.Min(rest, Block), room.Length, out var keep);
        written += room.Length >= Block
            ? vectors.Write(ref window, ref MemoryMarshal.GetReference(room), keep << behind, resolved.Escaped << behind)
            : WriteNarrow(ref window, room, keep << behind, resolved.Escaped << behind);
        consumed += taken;
        state = resolved.StateAfter(taken);
        return true;
    }

    /// <summary>The same where the whole source is shorter than a block.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    private bool TryRunShort(ReadOnlySpan<byte> source, Span<byte> destination, ref YencState state, ref int consumed, ref int written)
    {
        var rest = source[consumed..];
        Span<byte> copy = stackalloc byte[Whole];
        rest.CopyTo(copy);
        ref var block = ref MemoryMarshal.GetReference(copy);
        if (!vectors.Find(ref block).TryResolve(ref block, rest.Length, state, out var resolved))
            return false;

        var room = destination[written..];
        var taken = resolved.Fit(rest.Length, room.Length, out var keep);
        written += WriteNarrow(ref block, room, keep, resolved.Escaped);
        consumed += taken;
        state = resolved.StateAfter(taken);
        return true;
    }

    /// <summary>Writes the kept bytes of a block, and not a byte behind them.</summary>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    [SkipLocalsInit]
    private int WriteNarrow(ref byte from, Span<byte> room, ulong keep, ulong escaped)
    {
        Span<byte> output = stackalloc byte[Block];
        var kept = vectors.Write(ref from, ref MemoryMarshal.GetReference(output), keep, escaped);
        output[..kept].CopyTo(room);
        return kept;
    }
}
