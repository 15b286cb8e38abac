using Sluice.Usenet.Nzb;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>The ids of a file as listed in the NZB. They stay in memory, because only one run needs them.</summary>
internal sealed class ListedIds(IReadOnlyList<NzbSegment> segments) : ISegmentIds
{
    public int Count => segments.Count;

    public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken) => ValueTask.FromResult(segments[index].Ids);
}
