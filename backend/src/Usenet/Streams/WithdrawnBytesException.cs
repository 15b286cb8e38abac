namespace Sluice.Usenet.Streams;

/// <summary>
/// Bytes were served before their article was proved, and then turned out wrong or could not be proved at all. The response must be aborted; a new
/// one gets the right bytes.
/// </summary>
public sealed class WithdrawnBytesException : IOException
{
    /// <param name="segment">0-based index of the segment in its posted file.</param>
    /// <param name="cause">Why there is no proved article; null if there is one, with other bytes.</param>
    public WithdrawnBytesException(int segment, Exception? cause = null)
        : base($"Bytes of article {segment + 1} left before the article turned out to be {(cause is null ? "damaged" : "out of reach")}.", cause) => Segment = segment;

    public int Segment { get; }
}
