using System.Runtime.InteropServices;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Streams.Maps;

/// <summary>The exact position of one segment in its posted file.</summary>
/// <param name="Index">0-based; the number in the NZB minus one.</param>
/// <param name="Begin">0-based offset of the segment's first decoded byte in the posted file.</param>
/// <param name="Length">Decoded bytes; 0 only for the single segment of an empty file or for a part posted empty.</param>
// Auto layout, because each segment in transit keeps several of these, and declaration order would take 50% more memory.
[StructLayout(LayoutKind.Auto)]
public readonly record struct Segment(int Index, long Begin, int Length)
{
    // yEnc encodes 128 bytes as a line of about 132 including CRLF; BODY does not send the article's headers.
    private const double EncodedPerDecoded = 1.032;

    /// <summary>Approximate size of the segment's article on the wire, in bytes.</summary>
    public long EncodedLength => (long)(Length * EncodedPerDecoded);

    public long End => Begin + Length;
}

/// <summary>
/// Identifies a segment request by message-ids and offset. Two files may list the same article at different offsets, so verifying an article for one file says
/// nothing about the other. The primary id is never empty.
/// </summary>
internal readonly record struct SegmentKey(SegmentIds Ids, Segment Segment)
{
    public bool Equals(SegmentKey other) =>
        Segment == other.Segment && Ids.Primary == other.Ids.Primary && HasFallbacksOf(other.Ids.Fallbacks);

    public override int GetHashCode() => HashCode.Combine(Ids.Primary, Segment.Index);

    private bool HasFallbacksOf(IReadOnlyList<MessageId> others)
    {
        if (Ids.Fallbacks.Count != others.Count)
            return false;
        for (var i = 0; i < others.Count; i++)
        {
            if (Ids.Fallbacks[i] != others[i])
                return false;
        }

        return true;
    }
}
