namespace Sluice.Usenet.Yenc;

/// <summary>
/// Turns the raw bytes of an NNTP body into the bytes that were posted: removes dot-stuffing and line ends, undoes yEnc's
/// escapes, and stops at keyword lines and at the end of the article, all in one pass.
/// </summary>
/// <remarks>
/// Kernels hold no state and are thread-safe. They differ in speed only: each gives the answers of the byte machine.
/// Line ends are CRLF; a dot right after CRLF is dropped; CRLF <c>.</c> CRLF ends the body (RFC 3977 section 3.1.1). CR and
/// LF are dropped; <c>=</c> drops itself and turns the next byte b, whatever it is, into b−42−64 mod 256; every other byte
/// becomes b−42 (yEnc draft 1.3). The layers are independent: in <c>=</c> CR LF <c>.</c> the CR is escaped data, and the
/// line start still exists.
/// </remarks>
public abstract class YencKernel
{
    private protected YencKernel()
    {
    }

    // Made when asked for: a kernel may bring tables that only tests of all kernels need.
    private static readonly Lazy<IReadOnlyList<YencKernel>> All = new(() => [.. CreateSupported()]);

    /// <summary>The kernels that this CPU runs, fastest first. The byte machine is always the last one.</summary>
    public static IReadOnlyList<YencKernel> Supported => All.Value;

    /// <summary>The fastest kernel that this CPU runs.</summary>
    public static YencKernel Best { get; } = CreateSupported().First();

    /// <summary>For logs and test output.</summary>
    public abstract string Name { get; }

    /// <summary>Decodes until the source is used up, the destination is full, or something else than data comes.</summary>
    /// <param name="source">Raw bytes. Nothing outside of it is read.</param>
    /// <param name="destination">
    /// Takes decoded bytes; must not overlap the source. Nothing outside of it is written; inside of it bytes after
    /// <paramref name="written"/> may be overwritten with anything.
    /// </param>
    /// <param name="state">Where the body stands; carried from call to call.</param>
    /// <param name="consumed">Bytes of the source that are done with and must not be given again.</param>
    /// <param name="written">Decoded bytes at the start of the destination.</param>
    /// <remarks>Does not throw and does not allocate. An empty destination is allowed: dropped bytes are then consumed up to the first byte of data.</remarks>
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

/// <summary>Why <see cref="YencKernel.Decode"/> returned.</summary>
public enum YencStop
{
    /// <summary>All of the source is consumed; the article goes on.</summary>
    NeedInput,

    /// <summary>The next byte is data and the destination has no room for it. It is not consumed.</summary>
    DestinationFull,

    /// <summary>A line begins with <c>=y</c>; those two bytes are consumed, the rest of the line is not.</summary>
    Keyword,

    /// <summary>The terminating line of the NNTP body is consumed to its last byte.</summary>
    ArticleEnd,
}
