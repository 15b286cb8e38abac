using Sluice.Usenet.Nzb;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>The ids of a file as the NZB lists them, held in memory for the one run that needs them.</summary>
internal sealed class ListedIds(IReadOnlyList<NzbSegment> segments) : ISegmentIds
{
    public int Count => segments.Count;

    public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken) => ValueTask.FromResult(segments[index].Ids);
}
