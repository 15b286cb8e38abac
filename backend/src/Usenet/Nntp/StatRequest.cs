using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp;

/// <summary>Which articles an <see cref="IArticleSource"/> checks, and at how many providers.</summary>
/// <param name="Ids">Any number of articles, none empty; must not change while the request runs. The source splits them into batches.</param>
/// <param name="EveryProvider">
/// Asks every provider, even after a hit or a miss on the same backbone, because a decision to remove something needs this evidence. Otherwise the search ends
/// at the first provider with the article.
/// </param>
public readonly record struct StatRequest(
    ReadOnlyMemory<MessageId> Ids,
    OperationLane Lane,
    bool EveryProvider = false,
    ProviderSet Excluded = default);

/// <summary>The providers' answers about one article. The default value means that no provider was asked.</summary>
/// <param name="Has">Providers with the article. They may still fail to send its body.</param>
/// <param name="Misses">Providers that answered 430, 423 or 451.</param>
/// <param name="Unanswered">Providers without a complete answer. While this set is not empty, no miss is final.</param>
/// <remarks>Immutable value.</remarks>
public readonly record struct ArticlePresence(ProviderSet Has, ProviderSet Misses, ProviderSet Unanswered)
{
    public bool IsPresent => Has.Count > 0;

    /// <summary>Whether at least one provider was asked and none of them has the article.</summary>
    public bool IsMissingEverywhere => Has.Count == 0 && Unanswered.Count == 0 && Misses.Count > 0;
}
