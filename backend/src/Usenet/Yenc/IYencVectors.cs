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
    /// <param name="written">Moves on by what was kept of them.</param>
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
