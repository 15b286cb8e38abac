using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Message-ids of a posted file in memory, given by the test.</summary>
internal sealed class FixedIds(IReadOnlyList<SegmentIds> ids) : ISegmentIds
{
    public int Count => ids.Count;

    /// <summary>Segments that were never posted.</summary>
    public static FixedIds None(int count) => new([.. Enumerable.Repeat(SegmentIds.None, count)]);

    /// <summary>Segments that all refer to one article.</summary>
    public static FixedIds Same(string id, int count = 1) => new([.. Enumerable.Repeat(new SegmentIds(MessageId.Parse(id), []), count)]);

    /// <summary>Segments with the ids 0@film, 1@film and so on.</summary>
    public static FixedIds Numbered(int count) => new([.. Enumerable.Range(0, count).Select(static number => new SegmentIds(MessageId.Parse($"{number}@film"), []))]);

    public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken) => new(ids[index]);
}
