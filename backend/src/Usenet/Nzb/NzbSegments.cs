using System.Collections;

namespace Sluice.Usenet.Nzb;

/// <summary>The segments of a file by number, read from where the reader of its NZB has put them.</summary>
/// <remarks>Valid until that reader goes on. Not thread-safe.</remarks>
internal sealed class NzbSegments(SegmentSpool spool) : IReadOnlyCollection<NzbSegment>
{
    /// <inheritdoc/>
    public int Count { get; } = spool.LastNumber;

    /// <inheritdoc/>
    public IEnumerator<NzbSegment> GetEnumerator()
    {
        var number = 0;
        for (var place = 0L; place < spool.End;)
        {
            var (next, segment) = Read(ref place);
            while (++number < next)
                yield return new NzbSegment(SegmentIds.None, 0);
            yield return segment;
        }
    }

    /// <inheritdoc/>
    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    private (int Number, NzbSegment Segment) Read(ref long place)
    {
        var segment = spool.Read(place);
        place = segment.Next;
        return (segment.Number, new NzbSegment(PackedIds.Read(segment.PackedIds)!.Value, segment.Bytes));
    }
}
