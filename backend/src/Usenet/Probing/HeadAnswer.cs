namespace Sluice.Usenet.Probing;

/// <summary>The answer to a question for the head of one article: a head, or the state that says why there is none.</summary>
/// <param name="Head">The head, or null.</param>
/// <param name="State">Found with a head; without one Missing or Corrupt.</param>
internal readonly record struct HeadAnswer(ArticleHead? Head, HeadState State)
{
    /// <summary>An article that was never posted.</summary>
    public static HeadAnswer NeverPosted => new(null, HeadState.Missing);
}
