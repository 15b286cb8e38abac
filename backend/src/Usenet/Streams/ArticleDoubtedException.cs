namespace Sluice.Usenet.Streams;

/// <summary>Every copy of a segment arrived damaged, perhaps in transit. A second request follows after a pause, so the bytes may become available.</summary>
public sealed class ArticleDoubtedException : IOException
{
    /// <param name="segment">0-based index of the segment in its posted file.</param>
    /// <param name="askIn">Time until the article is requested again.</param>
    public ArticleDoubtedException(int segment, TimeSpan askIn)
        : base($"Article {segment + 1} of the file came damaged; it is asked for again in {askIn.TotalSeconds:0.#} s.") => AskIn = askIn;

    public TimeSpan AskIn { get; }
}
