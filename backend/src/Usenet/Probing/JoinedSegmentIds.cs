using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Probing;

/// <summary>The ids of a file whose segments are listed as files of their own; null for one that nobody lists.</summary>
/// <remarks>Thread-safe, as its parts are.</remarks>
internal sealed class JoinedSegmentIds(IReadOnlyList<ISegmentIds?> segments) : ISegmentIds
{
    public int Count => segments.Count;

    public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(index);
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(index, Count);
        return segments[index]?.GetAsync(0, cancellationToken) ?? new ValueTask<SegmentIds>(SegmentIds.None);
    }
}
