using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp;

/// <summary>What is asked of an <see cref="IArticleSource"/>.</summary>
/// <param name="Id">The article; never empty.</param>
/// <param name="Lane">Why it is fetched.</param>
/// <param name="HeadOfLine">True when a reader waits for it right now: it overtakes what is fetched ahead.</param>
/// <param name="ExpectedBytes">Encoded size of the body in bytes as far as known, else 0. A hint for choosing a connection.</param>
/// <param name="Excluded">Providers that must not be asked, because their copy is known to be bad.</param>
public readonly record struct ArticleRequest(
    MessageId Id,
    OperationLane Lane,
    bool HeadOfLine = false,
    long ExpectedBytes = 0,
    ProviderSet Excluded = default);
