namespace Sluice.Usenet.Streams;

/// <summary>Why the bytes of a segment cannot be had.</summary>
public enum ArticleLoss
{
    /// <summary>The NZB names no article for the segment.</summary>
    NeverPosted,

    /// <summary>Every provider has said that it does not have the article.</summary>
    Missing,

    /// <summary>Every provider that has the article sends damaged bytes or those of another one.</summary>
    Corrupt,
}

/// <summary>A segment is proved to be gone: asking again now would give the same answer.</summary>
public sealed class ArticleGoneException : IOException
{
    /// <summary>Creates the exception.</summary>
    /// <param name="loss">What was proved.</param>
    /// <param name="segment">0-based index of the segment in its posted file.</param>
    public ArticleGoneException(ArticleLoss loss, int segment)
        : base($"Article {segment + 1} of the file is {Describe(loss)}.")
    {
        Loss = loss;
        Segment = segment;
    }

    /// <summary>What was proved.</summary>
    public ArticleLoss Loss { get; }

    /// <summary>0-based index of the segment in its posted file.</summary>
    public int Segment { get; }

    private static string Describe(ArticleLoss loss) => loss switch
    {
        ArticleLoss.NeverPosted => "not part of the post",
        ArticleLoss.Missing => "gone at all providers",
        _ => "damaged at every provider that has it",
    };
}
