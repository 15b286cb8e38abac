namespace Sluice.Usenet.Nntp;

/// <summary>
/// The right to one command on a connection and its reply, or to a batch of commands that leave together. Disposing it is the
/// one place that decides what becomes of a connection whose reply is not wanted any more.
/// </summary>
/// <remarks>One owner, used by one fetch, disposed once.</remarks>
internal sealed class ConnectionLease(NntpConnectionPool pool, NntpConnection connection, ArticleRequest request) : IDisposable
{
    private PendingReply? _reply;
    private CancellationTokenRegistration _registration;

    public ArticleRequest Request => request;

    /// <summary>Whether another try has brought the article first. Set before the fetch is given up.</summary>
    public bool IsBeaten { get; set; }

    /// <summary>Says that the reply is late, or not any more.</summary>
    public void Suspect(bool isLate) => connection.Load.IsSuspect = isLate;

    /// <summary>Sends BODY and waits for the end of its reply.</summary>
    public ValueTask<ReplyOutcome> FetchAsync(IArticleSink sink, CancellationToken cancellationToken) =>
        AskAsync(new ArticleBody(request, sink, connection.Provider), cancellationToken);

    /// <summary>Sends the commands and waits for the end of their reply. Called at most once.</summary>
    public ValueTask<ReplyOutcome> AskAsync(PendingReply reply, CancellationToken cancellationToken)
    {
        _reply = reply;
        connection.Submit(reply);

        // Ends with the lease: a method that waited for the reply would cost an object per article.
        _registration = cancellationToken.UnsafeRegister(static (state, token) => ((PendingReply)state!).TryAbandon(token), reply);
        return reply.Outcome;
    }

    public void Dispose()
    {
        _registration.Dispose();
        if (_reply is null)
            pool.EndCommand(connection, request);
        else if (_reply.IsAbandoned)
            Abandon();
    }

    private void Abandon()
    {
        connection.Load.Abandon();
        if (!(IsBeaten && connection.TryGiveUp()))
            connection.Reconsider();
        // Whoever waits for this connection may be better off with another one now.
        pool.Pump();
    }

    /// <summary>As <see cref="Dispose"/>, for a caller that holds a lock.</summary>
    public async Task DisposeLaterAsync()
    {
        await Task.Yield();
        Dispose();
    }
}
