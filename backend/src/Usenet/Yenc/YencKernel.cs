namespace Sluice.Usenet.Yenc;

/// <summary>
/// Decodes a raw NNTP body into the posted bytes in one pass: removes dot-stuffing and line ends, undoes yEnc's escapes, and stops at keyword lines
/// and at the end of the article.
/// </summary>
/// <remarks>
/// Kernels have no state and are thread-safe. They differ only in speed: all produce the output of the byte machine. Lines end in CRLF; a dot right
/// after CRLF is dropped; CRLF <c>.</c> CRLF ends the body (RFC 3977 section 3.1.1). CR and LF are dropped. <c>=</c> is dropped and turns the next
/// byte b, whatever it is, into b−42−64 mod 256. Every other byte becomes b−42 (yEnc draft 1.3). The layers are independent: in <c>=</c> CR LF
/// <c>.</c> the CR is escaped data, but the line start still counts.
/// </remarks>
public abstract class YencKernel
{
    private protected YencKernel()
    {
    }

    // Lazy, because some kernels need large tables, and only tests use all kernels.
    private static readonly Lazy<IReadOnlyList<YencKernel>> All = new(() => [.. CreateSupported()]);

    /// <summary>The kernels that this CPU supports, fastest first. The byte machine is always last.</summary>
    public static IReadOnlyList<YencKernel> Supported => All.Value;

    public static YencKernel Best { get; } = CreateSupported().First();

    /// <summary>Name for logs and test output.</summary>
    public abstract string Name { get; }

    /// <summary>Decodes until the source is consumed, the destination is full, or something other than data follows.</summary>
    /// <param name="source">Raw bytes. Nothing outside of the span is read.</param>
    /// <param name="destination">
    /// Receives decoded bytes; must not overlap the source. Nothing outside of the span is written, but bytes after <paramref name="written"/> may be
    /// overwritten.
    /// </param>
    /// <param name="state">Decoder state of the body, carried from call to call.</param>
    /// <param name="consumed">Number of source bytes consumed; do not pass them again.</param>
    /// <param name="written">Number of decoded bytes at the start of the destination.</param>
    /// <remarks>Does not throw or allocate. With an empty destination, consumes the source up to the first byte of data.</remarks>
    public abstract YencStop Decode(
        ReadOnlySpan<byte> source, Span<byte> destination, ref YencState state, out int consumed, out int written);

    public override string ToString() => Name;

    private static IEnumerable<YencKernel> CreateSupported()
    {
        if (YencVbmi2.IsSupported)
            yield return new YencBlockKernel<YencVbmi2>("AVX-512 VBMI2", default);
        if (YencVector128.IsSupported)
        {
            var squeeze = new SqueezeTable();
            if (YencAvx2.IsSupported)
                yield return new YencBlockKernel<YencAvx2>("AVX2", new YencAvx2(squeeze));
            yield return new YencBlockKernel<YencVector128>("Vector128", new YencVector128(squeeze));
        }

        yield return new YencByteKernel();
    }
}

/// <summary>The reason why <see cref="YencKernel.Decode"/> returned.</summary>
public enum YencStop
{
    /// <summary>All of the source is consumed; the article continues.</summary>
    NeedInput,

    /// <summary>The next byte is data, but the destination is full. That byte is not consumed.</summary>
    DestinationFull,

    /// <summary>A line begins with <c>=y</c>; those two bytes are consumed, the rest of the line is not.</summary>
    Keyword,

    /// <summary>The terminating line of the NNTP body is fully consumed.</summary>
    ArticleEnd,
}
