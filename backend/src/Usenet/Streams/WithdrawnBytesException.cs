namespace Sluice.Usenet.Streams;

/// <summary>
/// Bytes that have left while their article was still arriving are not those of the proved article. The response they went
/// into must be aborted; a new one gets the right bytes.
/// </summary>
public sealed class WithdrawnBytesException : IOException
{
    /// <summary>Creates the exception.</summary>
    /// <param name="segment">0-based index of the segment in its posted file.</param>
    public WithdrawnBytesException(int segment)
        : base($"Bytes of article {segment + 1} left before the article turned out to be damaged.") => Segment = segment;

    /// <summary>0-based index of the segment in its posted file.</summary>
    public int Segment { get; }
}
