using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Probing;

/// <summary>What is wanted of an article.</summary>
/// <param name="IsPlausible">Whether a header belongs to it.</param>
/// <param name="Whole">Whether the beginning is not enough: an article whose place has to be counted is only as good as its data.</param>
/// <param name="ArticleBytes">Encoded size of the article as far as known, else 0.</param>
internal readonly record struct HeadDemand(Func<ArticleHead, bool> IsPlausible, bool Whole, long ArticleBytes)
{
    /// <summary>Whether it is taken to its end for the sake of its trailer, although its beginning would do.</summary>
    public bool UntilEnd { get; init; }

    /// <summary>Whose copies are there already and would be better for what is wanted now, which is asked for once and only of others.</summary>
    public ProviderSet Beside { get; init; }

    /// <summary>Whether it is asked for in addition to a head that will do.</summary>
    public bool IsWish => UntilEnd || Beside.Count > 0;

    // Sizes are a hint of whoever posted it. An article of today is smaller, and a larger claim would keep others waiting for nothing.
    private const long MostBelieved = 2 << 20;

    /// <summary>What the line is to carry for it: all of it, since what is not wanted of it is on its way as well.</summary>
    public long ExpectedBytes => Math.Clamp(ArticleBytes, 0, MostBelieved);

    /// <summary>Whether an article will do.</summary>
    public bool IsMetBy(ArticleHead head) =>
        head.Header is not null
        && (head.IsIntact || (head.Begin is not null && !Whole))
        && (!Whole || head.Length == head.DecodedLength)
        && IsPlausible(head);
}
