namespace Sluice.Usenet.Streams;

/// <summary>Bytes served before their proof turned out wrong or unprovable. The response must be aborted, and a new one gets the right bytes.</summary>
public sealed class WithdrawnBytesException : IOException
{
    /// <param name="segment">0-based index of the segment in its posted file.</param>
    /// <param name="cause">The reason there is no proved article; null if the proved article has other bytes.</param>
    public WithdrawnBytesException(int segment, Exception? cause = null)
        : base($"Bytes of article {segment + 1} left before the article turned out to be {(cause is null ? "damaged" : "out of reach")}.", cause) => Segment = segment;

    public int Segment { get; }
}
