namespace Sluice.Usenet.Nntp;

/// <summary>
/// The right to one command on a connection and its reply. Disposing it is the one place that decides what becomes of a
/// connection whose reply is not wanted any more.
/// </summary>
/// <remarks>One owner, used by one fetch, disposed once.</remarks>
internal sealed class ConnectionLease(NntpConnectionPool pool, NntpConnection connection, ArticleRequest request) : IDisposable
{
    private ArticleBody? _body;

    public ArticleRequest Request => request;

    /// <summary>Sends the command and waits for the end of its reply. Called at most once.</summary>
    public async ValueTask<BodyOutcome> FetchAsync(IArticleSink sink, CancellationToken cancellationToken)
    {
        var body = _body = new ArticleBody(request, sink, connection.Provider);
        connection.Submit(body, request.Lane);
        await using var registration = cancellationToken.UnsafeRegister(static (state, token) => ((ArticleBody)state!).TryAbandon(token), body);
        return await body.Outcome;
    }

    public void Dispose()
    {
        if (_body is null)
            pool.ReturnUnused(connection, request);
        else if (_body.IsAbandoned)
            connection.Reconsider();
    }
}
