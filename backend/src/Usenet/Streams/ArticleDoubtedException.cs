namespace Sluice.Usenet.Streams;

/// <summary>
/// Every copy of a segment came damaged a moment ago. That may have been the way and not the article: the next question decides, and until it
/// may be asked nothing is fetched. The bytes may be there later.
/// </summary>
public sealed class ArticleDoubtedException : IOException
{
    /// <summary>Creates the exception.</summary>
    /// <param name="segment">0-based index of the segment in its posted file.</param>
    /// <param name="askIn">How long it is until the article is asked for again.</param>
    public ArticleDoubtedException(int segment, TimeSpan askIn)
        : base($"Article {segment + 1} of the file came damaged; it is asked for again in {askIn.TotalSeconds:0.#} s.") => AskIn = askIn;

    /// <summary>How long it is until the article is asked for again.</summary>
    public TimeSpan AskIn { get; }
}
