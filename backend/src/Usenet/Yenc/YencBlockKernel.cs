using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Sluice.Usenet.Yenc;

/// <summary>What vector kernels share: the way from block to block of 64 bytes, and over the ends of buffers.</summary>
/// <remarks>
/// The fast loop knows a byte and its predecessor, which it loads from one byte before. Where two bytes have to be judged
/// together the block is resolved on masks, and so are parts of blocks at the ends of source and destination: a call that
/// ends at an arbitrary place costs no more than that. The byte machine is left with keywords and the end of the article.
/// </remarks>
internal abstract class YencBlockKernel : YencKernel
{
    /// <summary>Bytes of a block.</summary>
    protected const int Block = YencBlockMasks.Length;

    private const int Whole = Block + YencBlockMasks.LookAhead;

    /// <inheritdoc/>
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
        return RunBytes(source[consumed..], destination, ref state, ref consumed, ref written);
    }

    /// <summary>
    /// Decodes blocks as long as the two bytes after '=' and LF are not such that they have to be judged together: after
    /// an <c>=</c> neither CR, LF, <c>=</c> nor <c>y</c>, after an LF no dot. Returns at the first other block, or where
    /// source or destination hold no further one.
    /// </summary>
    /// <param name="source">Has at least one byte before <paramref name="consumed"/>, and an <c>=</c> there escapes.</param>
    /// <param name="destination">Is written in whole blocks.</param>
    /// <param name="consumed">Moves on by whole blocks.</param>
    /// <param name="written">Moves on by what was kept of them.</param>
    protected abstract void RunFast(ReadOnlySpan<byte> source, Span<byte> destination, ref int consumed, ref int written);

    /// <summary>The masks of one block.</summary>
    protected abstract YencBlockMasks Find(ref byte block);

    /// <summary>Decodes one block by masks.</summary>
    /// <param name="from">The block.</param>
    /// <param name="to">Room for a whole block.</param>
    /// <param name="keep">Bytes that are data.</param>
    /// <param name="escaped">Those of them that are escaped.</param>
    /// <returns>How many are kept.</returns>
    protected abstract int Write(ref byte from, ref byte to, ulong keep, ulong escaped);

    private static YencStop RunBytes(
        ReadOnlySpan<byte> source, Span<byte> destination, ref YencState state, ref int consumed, ref int written)
    {
        var stop = YencByteKernel.Run(source, destination[written..], ref state, out var more, out var moreOut);
        consumed += more;
        written += moreOut;
        return stop;
    }

    /// <summary>Decodes up to the end of source or destination, or up to what is for the byte machine.</summary>
    /// <returns>True when the byte machine has to look at a byte or two only.</returns>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    private bool RunBlocks(ReadOnlySpan<byte> source, Span<byte> destination, ref YencState state, ref int consumed, ref int written)
    {
        ref var from = ref MemoryMarshal.GetReference(source);
        ref var to = ref MemoryMarshal.GetReference(destination);
        while (source.Length - consumed >= Whole && destination.Length - written >= Block)
        {
            // The first block of a call has no byte before it, so it always comes here.
            ref var block = ref Unsafe.Add(ref from, consumed);
            if (!Find(ref block).TryResolve(ref block, Whole, state, out var resolved))
                return false;
            written += Write(ref block, ref Unsafe.Add(ref to, written), resolved.Keep, resolved.Escaped);
            consumed += Block;
            state = resolved.StateAfter(Block);

            // An escaped '=' would pass for an escaping one in the fast loop.
            if (source[consumed - 1] == '=' && !state.Escape)
                continue;

            var before = consumed;
            RunFast(source, destination, ref consumed, ref written);
            if (consumed != before)
                state = StateAfter(source[..consumed]);
            if (state.Context > YencContext.Cr)
                return true;
        }

        while (consumed < source.Length && written < destination.Length)
        {
            if (!TryRunPart(source[consumed..], destination[written..], ref state, out var taken, out var kept))
                return false;
            consumed += taken;
            written += kept;
        }

        return false;
    }

    /// <summary>What the fast loop leaves behind: it has seen no pair that matters, so a last <c>=</c> escapes.</summary>
    private static YencState StateAfter(ReadOnlySpan<byte> decoded) => new()
    {
        Escape = decoded[^1] == '=',
        Context = decoded[^1] == '\r' ? YencContext.Cr
            : decoded.EndsWith("\r\n"u8) ? YencContext.LineStart
            : decoded.EndsWith("\r\n="u8) ? YencContext.Equals
            : YencContext.Inside,
    };

    /// <summary>Decodes less than a block, because there is no more input or no room for more output.</summary>
    /// <param name="source">At least one byte.</param>
    /// <param name="destination">At least one byte.</param>
    /// <param name="state">Moves over what is taken.</param>
    /// <param name="taken">Bytes of the source that are done with, at least one.</param>
    /// <param name="kept">Bytes written.</param>
    /// <returns>False when a keyword line or the end of the article may begin there; nothing is changed then.</returns>
    [MethodImpl(MethodImplOptions.AggressiveOptimization)]
    private bool TryRunPart(ReadOnlySpan<byte> source, Span<byte> destination, ref YencState state, out int taken, out int kept)
    {
        var seen = Math.Min(source.Length, Whole);
        Span<byte> input = stackalloc byte[Whole];
        Span<byte> output = stackalloc byte[Block];
        source[..seen].CopyTo(input);
        taken = Math.Min(seen, Block);
        kept = 0;
        ref var block = ref MemoryMarshal.GetReference(input);
        if (!Find(ref block).TryResolve(ref block, seen, state, out var resolved))
            return false;

        var keep = resolved.Keep & (ulong.MaxValue >> (Block - taken));
        var left = keep;
        for (var room = destination.Length; left != 0 && room != 0; room--)
            left &= left - 1;
        if (left != 0)
        {
            // The first byte that has no room stays in the source.
            taken = BitOperations.TrailingZeroCount(left);
            keep &= (1ul << taken) - 1;
        }

        kept = Write(ref block, ref MemoryMarshal.GetReference(output), keep, resolved.Escaped);
        output[..kept].CopyTo(destination);
        state = resolved.StateAfter(taken);
        return true;
    }
}
