using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Streams.Maps;

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
