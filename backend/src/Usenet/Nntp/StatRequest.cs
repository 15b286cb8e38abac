using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp;

/// <summary>Which articles an <see cref="IArticleSource"/> is asked about, and how far the walk goes.</summary>
/// <param name="Ids">The articles, none empty; must not change while the walk runs. Any number: batches and pipelining are the source's part.</param>
/// <param name="Lane">Why it is asked.</param>
/// <param name="EveryProvider">
/// Asks each provider, also those of a backbone that misses the article and those behind one that has it: the evidence that a
/// decision to remove something needs. Otherwise the walk ends at the first provider that has the article.
/// </param>
/// <param name="Excluded">Providers that must not be asked.</param>
public readonly record struct StatRequest(
    ReadOnlyMemory<MessageId> Ids,
    OperationLane Lane,
    bool EveryProvider = false,
    ProviderSet Excluded = default);

/// <summary>What the providers have said about one article. The default says that none was asked.</summary>
/// <param name="Has">Providers that have it; this says nothing about its body.</param>
/// <param name="Misses">Providers that said 430, 423 or 451.</param>
/// <param name="Unanswered">Providers that could not be asked to the end; while there is one, no miss is final.</param>
/// <remarks>Immutable value.</remarks>
public readonly record struct ArticlePresence(ProviderSet Has, ProviderSet Misses, ProviderSet Unanswered)
{
    /// <summary>Whether any provider has the article.</summary>
    public bool IsPresent => Has.Count > 0;

    /// <summary>Whether every provider that was asked misses it, and at least one was.</summary>
    public bool IsMissingEverywhere => Has.Count == 0 && Unanswered.Count == 0 && Misses.Count > 0;
}
