using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Probing;

/// <summary>What came of asking for the head of one article: a head, or the state that says why there is none.</summary>
/// <param name="Head">The head, or null.</param>
/// <param name="State">Found with a head; without one Missing or Corrupt.</param>
/// <param name="Missing">The misses, when no provider delivered anything at all.</param>
internal readonly record struct HeadAnswer(ArticleHead? Head, HeadState State, ArticleMissing? Missing)
{
    /// <summary>An article that was never posted.</summary>
    public static HeadAnswer NeverPosted => new(null, HeadState.Missing, null);
}
