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
