namespace Sluice.Usenet.Nntp;

/// <summary>
/// Where articles come from. The one seam that the streams see: the providers, a built-in release or a test stand behind it.
/// </summary>
/// <remarks>Thread-safe; any number of fetches may be under way.</remarks>
public interface IArticleSource
{
    /// <summary>How many providers there are; <see cref="ArticleRequest.Excluded"/> speaks of indexes below it.</summary>
    int ProviderCount { get; }

    /// <summary>The account that stands at an index: equal for the same one, whatever place the settings give it.</summary>
    Guid ProviderId(int provider) => new(provider + 1, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]);

    /// <summary>
    /// The providers that have their articles from the same store as one of them, itself included: a copy of another store is one of
    /// its own, a copy of the same is read from the same place.
    /// </summary>
    ProviderSet StoreOf(int provider) => default(ProviderSet).With(provider);

    /// <summary>What came over a connection cannot be trusted: nothing more is asked for there, and another connection takes its place.</summary>
    /// <param name="connection">As <see cref="ArticleReply.Connection"/> names it; one that is closed already is no fault.</param>
    void Distrust(object connection)
    {
    }

    /// <summary>Fetches the body of one article into a sink, trying providers until one delivers it whole.</summary>
    /// <param name="request">What to fetch.</param>
    /// <param name="sink">Takes the body; not used any more once the returned task has completed.</param>
    /// <param name="cancellationToken">Gives the fetch up; the sink is free when the task has completed.</param>
    /// <exception cref="NntpException">No provider could be asked to the end, so nothing is known about the article.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    ValueTask<ArticleReply> FetchAsync(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken);

    /// <summary>Asks the providers whether they have articles, without fetching them.</summary>
    /// <param name="request">Which articles.</param>
    /// <param name="answers">
    /// Takes one entry for each id of the request, at its index: what is known about it once the task has completed. A provider
    /// that cannot be reached is no failure of the call; it stands in <see cref="ArticlePresence.Unanswered"/>.
    /// </param>
    /// <param name="cancellationToken">Gives the walk up; the answers are void then.</param>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    ValueTask StatAsync(StatRequest request, Memory<ArticlePresence> answers, CancellationToken cancellationToken);
}
