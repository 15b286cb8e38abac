using System.Runtime.InteropServices;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Streams.Maps;

/// <summary>The exact place of one segment in its posted file.</summary>
/// <param name="Index">0-based; the NZB's number less one.</param>
/// <param name="Begin">Offset of its first decoded byte in the posted file, 0-based.</param>
/// <param name="Length">Decoded bytes; 0 only for the single segment of an empty file or a part posted empty.</param>
// Several of them are kept for each segment on its way: in this order of its parts each would take half as much again.
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

/// <summary>
/// What makes two wants of a segment the same: the ids that may be asked for and the place that its bytes must have. Two files
/// may list one article at different places; what proves it for one of them says nothing about the other.
/// </summary>
/// <param name="Ids">Not those of a segment that was never posted.</param>
/// <param name="Segment">The place: number, first byte and length.</param>
internal readonly record struct SegmentKey(SegmentIds Ids, Segment Segment)
{
    /// <summary>Compares ids and place.</summary>
    public bool Equals(SegmentKey other) =>
        Segment == other.Segment && Ids.Primary == other.Ids.Primary && HasFallbacksOf(other.Ids.Fallbacks);

    /// <inheritdoc/>
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
