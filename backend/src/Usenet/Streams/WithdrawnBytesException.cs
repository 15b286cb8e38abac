namespace Sluice.Usenet.Streams;

/// <summary>
/// Bytes that have left while their article was still arriving are not those of the proved article, or there is no proved article
/// to compare them with. The response they went into must be aborted; a new one gets the right bytes.
/// </summary>
public sealed class WithdrawnBytesException : IOException
{
    /// <summary>Creates the exception.</summary>
    /// <param name="segment">0-based index of the segment in its posted file.</param>
    /// <param name="cause">Why there is no proved article; null where there is one with other bytes.</param>
    public WithdrawnBytesException(int segment, Exception? cause = null)
        : base($"Bytes of article {segment + 1} left before the article turned out to be {(cause is null ? "damaged" : "out of reach")}.", cause) => Segment = segment;

    /// <summary>0-based index of the segment in its posted file.</summary>
    public int Segment { get; }
}
