namespace Sluice.Usenet.Nntp;

/// <summary>A source of articles: the providers, a built-in release or a test double. The streams depend on nothing else to get articles.</summary>
/// <remarks>Thread-safe; any number of fetches may run.</remarks>
public interface IArticleSource
{
    /// <summary>Number of providers; <see cref="ArticleRequest.Excluded"/> holds indexes below it.</summary>
    int ProviderCount { get; }

    /// <summary>Stable id of the account at an index, independent of its position in the settings.</summary>
    Guid ProviderId(int provider) => new(provider + 1, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]);

    /// <summary>The providers that share a store with this one, including itself. Only a copy from another store is independent evidence.</summary>
    ProviderSet StoreOf(int provider) => default(ProviderSet).With(provider);

    /// <summary>Stops using a connection whose data cannot be trusted; another one replaces it.</summary>
    /// <param name="connection">From <see cref="ArticleReply.Connection"/>; may already be closed.</param>
    void Distrust(object connection)
    {
    }

    /// <summary>Fetches the body of one article into a sink, trying providers until one delivers it completely.</summary>
    /// <param name="sink">Receives the body; no longer used once the task has completed.</param>
    /// <exception cref="NntpException">A provider did not reply completely, so nothing is known about the article.</exception>
    ValueTask<ArticleReply> FetchAsync(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken);

    /// <summary>Asks the providers whether they have articles, without fetching them.</summary>
    /// <param name="answers">Receives one entry per id. Unreachable providers do not fail the call (<see cref="ArticlePresence.Unanswered"/>).</param>
    /// <param name="cancellationToken">Cancels the request. The answers are then void.</param>
    ValueTask StatAsync(StatRequest request, Memory<ArticlePresence> answers, CancellationToken cancellationToken);
}
