namespace Sluice.Usenet.Streams;

/// <summary>Bytes served before verification were wrong or cannot be verified. The response must be aborted; a new one gets the right bytes.</summary>
public sealed class WithdrawnBytesException : IOException
{
    /// <param name="segment">0-based index of the segment in its posted file.</param>
    /// <param name="cause">Why the article cannot be verified; null if the verified article has different bytes.</param>
    public WithdrawnBytesException(int segment, Exception? cause = null)
        : base($"Bytes of article {segment + 1} left before the article turned out to be {(cause is null ? "damaged" : "out of reach")}.", cause) => Segment = segment;

    public int Segment { get; }
}
