namespace Sluice.Usenet.Yenc;

/// <summary>The last bytes of a body, as far as the NNTP layer (RFC 3977 section 3.1.1) and keyword lines care for them.</summary>
/// <remarks>Vector kernels are entered from the first three only; the byte machine runs from any.</remarks>
internal enum YencContext : byte
{
    /// <summary>Right after CRLF, or at the start of the body.</summary>
    LineStart,

    /// <summary>Inside a line.</summary>
    Inside,

    /// <summary>After a CR.</summary>
    Cr,

    /// <summary>After CRLF and a dot, which is dropped whatever follows.</summary>
    Dot,

    /// <summary>After CRLF, a dot and CR: an LF ends the article.</summary>
    DotCr,

    /// <summary>After CRLF and <c>=</c>, also after CRLF and <c>.=</c>: a <c>y</c> begins a keyword line.</summary>
    Equals,

    /// <summary>After a bare LF, in an article with <see cref="YencState.BareLineFeeds"/>.</summary>
    LineFeed,
}
