using System.Runtime.InteropServices;

namespace Sluice.Usenet.Streams.Maps;

/// <summary>The exact place of one segment in its posted file.</summary>
/// <param name="Index">0-based; the NZB's number less one.</param>
/// <param name="Begin">Offset of its first decoded byte in the posted file, 0-based.</param>
/// <param name="Length">Decoded bytes; 0 only for the single segment of an empty file or a part posted empty.</param>
[StructLayout(LayoutKind.Auto)]
public readonly record struct Segment(int Index, long Begin, int Length)
{
    // yEnc turns 128 bytes into a line of about 132 with its CRLF; headers of the article do not come with BODY.
    private const double EncodedPerDecoded = 1.032;

    /// <summary>Bytes that its article has on the wire, more or less.</summary>
    public long EncodedLength => (long)(Length * EncodedPerDecoded);

    /// <summary>Offset behind its last byte.</summary>
    public long End => Begin + Length;
}
