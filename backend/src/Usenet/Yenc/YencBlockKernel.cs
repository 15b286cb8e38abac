using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Sluice.Usenet.Yenc;

/// <summary>What vector kernels share: the way from block to block of 64 bytes, and into the byte machine where no block fits.</summary>
/// <remarks>
/// The fast loop knows a byte and its predecessor, which it loads from one byte before. That is enough as long as no
/// special byte follows an <c>=</c> or an LF; where one does, the block is resolved on masks. About one block in eighty is.
/// </remarks>
internal abstract class YencBlockKernel : YencKernel
{
    /// <summary>Bytes of a block.</summary>
    protected const int Block = YencBlockMasks.Length;

    /// <inheritdoc/>
    public override YencStop Decode(
        ReadOnlySpan<byte> source, Span<byte> destination, ref YencState state, out int consumed, out int written)
    {
        consumed = written = 0;
        while (state.Context > YencContext.Cr && consumed < source.Length)
        {
            var early = YencByteKernel.Run(source.Slice(consumed, 1), destination[written..], ref state, out var one, out var byteOut);
            consumed += one;
            written += byteOut;
            if (early != YencStop.NeedInput)
                return early;
        }

        if (!state.BareLineFeeds)
            RunBlocks(source, destination, ref state, ref consumed, ref written);
        var stop = YencByteKernel.Run(source[consumed..], destination[written..], ref state, out var more, out var moreOut);
        consumed += more;
        written += moreOut;
        return stop;
    }

    /// <summary>Decodes whole blocks, up to one that holds a keyword or the end, or to where a block does not fit.</summary>
    private void RunBlocks(ReadOnlySpan<byte> source, Span<byte> destination, ref YencState state, ref int consumed, ref int written)
    {
        ref var from = ref MemoryMarshal.GetReference(source);
        ref var to = ref MemoryMarshal.GetReference(destination);
        while (source.Length - consumed >= Block + YencBlockMasks.LookAhead && destination.Length - written >= Block)
        {
            // The first block of a call has no byte before it, so it always comes here.
            if (!TryRunBlock(ref Unsafe.Add(ref from, consumed), ref Unsafe.Add(ref to, written), ref state, out var kept))
                return;
            consumed += Block;
            written += kept;

            // An escaped '=' would pass for an escaping one in the fast loop.
            if (source[consumed - 1] == '=' && !state.Escape)
                continue;

            var before = consumed;
            RunFast(source, destination, ref consumed, ref written);
            if (consumed != before)
                state = StateAfter(source[..consumed]);
        }
    }

    /// <summary>What the fast loop leaves behind: it has seen no special byte after an <c>=</c>, so a last <c>=</c> escapes.</summary>
    private static YencState StateAfter(ReadOnlySpan<byte> decoded) => new()
    {
        Escape = decoded[^1] == '=',
        Context = decoded[^1] == '\r' ? YencContext.Cr
            : decoded[^1] == '\n' && decoded[^2] == '\r' ? YencContext.LineStart
            : YencContext.Inside,
    };

    /// <summary>
    /// Decodes blocks in which every byte can be judged by itself and the one before it, and returns at the first other
    /// block or where source or destination hold no further one.
    /// </summary>
    /// <param name="source">Has at least one byte before <paramref name="consumed"/>, and an <c>=</c> there escapes.</param>
    /// <param name="destination">Is written in whole blocks.</param>
    /// <param name="consumed">Moves on by whole blocks.</param>
    /// <param name="written">Moves on by what was kept of them.</param>
    protected abstract void RunFast(ReadOnlySpan<byte> source, Span<byte> destination, ref int consumed, ref int written);

    /// <summary>Decodes one block by <see cref="YencBlockMasks"/>.</summary>
    /// <param name="from">The block, with <see cref="YencBlockMasks.LookAhead"/> bytes behind it.</param>
    /// <param name="to">Room for a whole block.</param>
    /// <param name="state">Moves over the block.</param>
    /// <param name="kept">Bytes written that count.</param>
    /// <returns>False when a keyword line or the end of the article begins in the block; nothing is changed then.</returns>
    protected abstract bool TryRunBlock(ref byte from, ref byte to, ref YencState state, out int kept);
}
