namespace Sluice.Usenet.Nzb;

/// <summary>The NZB's entry for one article of a file.</summary>
/// <param name="Ids">What to ask for; its primary id is empty for a segment that was never posted.</param>
/// <param name="Bytes">
/// Size of the article as the NZB claims it, encoded, in bytes; 0 when it claims nothing possible. A hint and nothing more.
/// </param>
public readonly record struct NzbSegment(SegmentIds Ids, int Bytes)
{
    /// <summary>True for a number between 1 and the highest that the NZB does not list.</summary>
    public bool IsHole => Ids.Primary.IsEmpty;
}
