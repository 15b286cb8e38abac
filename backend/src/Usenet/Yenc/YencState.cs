using System.Runtime.InteropServices;

namespace Sluice.Usenet.Yenc;

/// <summary>The state of a decoder between two buffers. <c>default</c> is the start of a body, which counts as a line start.</summary>
/// <remarks>Eight bytes. Holds all state that later bytes depend on, so that input may be split anywhere, even inside the terminator.</remarks>
[StructLayout(LayoutKind.Sequential, Size = 8)]
public struct YencState : IEquatable<YencState>
{
    /// <summary>How the bytes so far affect the meaning of the next one.</summary>
    internal YencContext Context;

    /// <summary>Whether an <c>=</c> has arrived but its escaped byte has not.</summary>
    internal bool Escape;

    /// <summary>Whether keyword lines end in a bare LF, so that a keyword may follow one. In NNTP a bare LF ends no line: a dot after it is data.</summary>
    internal bool BareLineFeeds;

    public readonly bool Equals(YencState other) =>
        Context == other.Context && Escape == other.Escape && BareLineFeeds == other.BareLineFeeds;

    public override readonly bool Equals(object? obj) => obj is YencState other && Equals(other);

    public override readonly int GetHashCode() => HashCode.Combine(Context, Escape, BareLineFeeds);

    public static bool operator ==(YencState left, YencState right) => left.Equals(right);

    public static bool operator !=(YencState left, YencState right) => !left.Equals(right);
}

/// <summary>The last bytes read, as far as the NNTP layer (RFC 3977 section 3.1.1) and keyword lines depend on them.</summary>
/// <remarks>Vector kernels start only from the first three values; the byte machine starts from any.</remarks>
internal enum YencContext : byte
{
    /// <summary>Right after CRLF, or at the start of the body.</summary>
    LineStart,

    Inside,

    Cr,

    /// <summary>After CRLF and a dot; this dot is never data.</summary>
    Dot,

    /// <summary>After CRLF, a dot and CR: an LF ends the article.</summary>
    DotCr,

    /// <summary>After CRLF and <c>=</c>, or after CRLF and <c>.=</c>: a <c>y</c> begins a keyword line.</summary>
    Equals,

    /// <summary>After a bare LF, in an article with <see cref="YencState.BareLineFeeds"/>.</summary>
    LineFeed,
}
