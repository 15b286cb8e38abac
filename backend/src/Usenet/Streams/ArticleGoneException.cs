namespace Sluice.Usenet.Streams;

/// <summary>Why a segment cannot be read.</summary>
public enum ArticleLoss
{
    /// <summary>The NZB names no article for the segment.</summary>
    NeverPosted,

    /// <summary>Every provider has reported the article as not found.</summary>
    Missing,

    /// <summary>Every provider with the article sends damaged bytes or another article.</summary>
    Corrupt,
}

/// <summary>A segment is known to be gone, so another request now would get the same result.</summary>
public sealed class ArticleGoneException : IOException
{
    public ArticleGoneException(ArticleLoss loss, int segment)
        : base($"Article {segment + 1} of the file is {Describe(loss)}.")
    {
        Loss = loss;
        Segment = segment;
    }

    public ArticleLoss Loss { get; }

    public int Segment { get; }

    private static string Describe(ArticleLoss loss) => loss switch
    {
        ArticleLoss.NeverPosted => "not part of the post",
        ArticleLoss.Missing => "gone at all providers",
        _ => "damaged at every provider that has it",
    };
}
