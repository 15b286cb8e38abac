using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Sluice.Usenet.Yenc;

/// <summary>The instruction-specific part of a vector kernel; <see cref="YencBlockKernel{TVectors}"/> is the common part.</summary>
internal interface IYencVectors
{
    /// <summary>
    /// Decodes blocks of 64 bytes in which no two neighbors must be interpreted together: no <c>=</c> precedes CR, LF, <c>=</c> or <c>y</c>, and no LF precedes
    /// a dot. Returns at any other block, or when source or destination has less than a block left. Also reads the byte before <paramref name="consumed"/>,
    /// because an <c>=</c> there escapes the next byte.
    /// </summary>
    /// <remarks>A separate method that makes no calls, because a call preserves no vector registers, so every round would reload all constants.</remarks>
    void RunFast(ReadOnlySpan<byte> source, Span<byte> destination, ref int consumed, ref int written);

    YencBlockMasks Find(ref byte block);

    /// <summary>Decodes the data bytes of one block with masks and returns the number of bytes kept. The destination must hold a whole block.</summary>
    int Write(ref byte from, ref byte to, ulong keep, ulong escaped);
}

/// <summary>The common part of all vector kernels: blocks of 64 bytes and ends of buffers. A struct as type argument lets the JIT inline.</summary>
/// <remarks>
/// The fast loop sees each byte and its predecessor, loaded from one byte earlier. If two neighbors must be interpreted together, masks resolve the block.
/// Masks also resolve partial blocks at the ends of source and destination, so that a call may end anywhere at no extra cost. Only keywords and the end of the
/// article are left to the byte machine.
/// </remarks>
internal sealed class YencBlockKernel<TVectors>(string name, TVectors vectors) : YencKernel
    where TVectors : struct, IYencVectors
{
    private const int Block = YencBlockMasks.Length;
    private const int Whole = Block + YencBlockMasks.LookAhead;

    // A shorter fast run does not pay for the branch misprediction at its end, so masks decode the next BlocksAfterShortRun blocks.
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

    /// <summary>Decodes up to the end of source or destination, or up to a byte that only the byte machine can interpret.</summary>
    /// <returns>True if the byte machine has to decode only the next byte or two.</returns>
    [MethodImpl(MethodImplOptions.AggressiveOptimization | MethodImplOptions.NoInlining)]
    private bool RunBlocks(ReadOnlySpan<byte> source, Span<byte> destination, ref YencState state, ref int consumed, ref int written)
    {
        ref var from = ref MemoryMarshal.GetReference(source);
        ref var to = ref MemoryMarshal.GetReference(destination);
        var byMasks = 1;
        while (source.Length - consumed >= Whole && destination.Length - written >= Block)
        {
            // The first block of a call has no byte before it, so masks always decode that block.
            ref var block = ref Unsafe.Add(ref from, consumed);
            if (!vectors.Find(ref block).TryResolve(ref block, Whole, state, out var resolved))
                return false;
            written += vectors.Write(ref block, ref Unsafe.Add(ref to, written), resolved.Keep, resolved.Escaped);
            consumed += Block;
            state = resolved.StateAfter(Block);

            // The fast loop would mistake an escaped '=' for an escaping one.
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

    /// <summary>Returns the state after the fast loop. No two bytes there had to be interpreted together, so a final <c>=</c> escapes.</summary>
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

    /// <summary>Decodes less than a block, because the source or the destination has less than a block left.</summary>
    /// <returns>False if a keyword line or the end of the article may begin there; then nothing changes.</returns>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    private bool TryRunPart(ReadOnlySpan<byte> source, Span<byte> destination, ref YencState state, ref int consumed, ref int written)
    {
        if (source.Length < Block)
            return TryRunShort(source, destination, ref state, ref consumed, ref written);

        // Loads the last block of the source, and shifts its masks to the first byte not yet decoded.
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

    /// <summary>Decodes the rest of a source shorter than a block.</summary>
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

    /// <summary>Writes the kept bytes of a block, and no byte after them.</summary>
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
