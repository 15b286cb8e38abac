using System.Runtime.InteropServices;

namespace Sluice.Usenet.Yenc;

/// <summary>
/// Where a decoder stands between two buffers. <c>default</c> is the start of a body, which counts as the start of a line.
/// </summary>
/// <remarks>
/// Eight bytes. Everything that a later byte can depend on is in here, so a kernel never goes back into bytes that it has
/// consumed and an input may be cut anywhere, also inside the terminator.
/// </remarks>
[StructLayout(LayoutKind.Sequential, Size = 8)]
public struct YencState : IEquatable<YencState>
{
    /// <summary>What the bytes before this point mean for the next one.</summary>
    internal YencContext Context;

    /// <summary>True after an <c>=</c> whose byte has not come yet.</summary>
    internal bool Escape;

    /// <summary>
    /// True for an article whose keyword lines end in a bare LF: a keyword may then follow a bare LF as well. The NNTP layer
    /// stays strict, a dot after a bare LF is data.
    /// </summary>
    internal bool BareLineFeeds;

    public readonly bool Equals(YencState other) =>
        Context == other.Context && Escape == other.Escape && BareLineFeeds == other.BareLineFeeds;

    public override readonly bool Equals(object? obj) => obj is YencState other && Equals(other);

    public override readonly int GetHashCode() => HashCode.Combine(Context, Escape, BareLineFeeds);

    /// <summary>Compares all of the state.</summary>
    public static bool operator ==(YencState left, YencState right) => left.Equals(right);

    /// <summary>Compares all of the state.</summary>
    public static bool operator !=(YencState left, YencState right) => !left.Equals(right);
}

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
