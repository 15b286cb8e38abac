using System.Threading.Channels;
using Sluice.Usenet.Nntp;

namespace Sluice.Testing;

/// <summary>One provider whose every reply is scripted by the test, byte by byte if necessary.</summary>
/// <remarks>Thread-safe; the test receives the fetches in the order of the requests.</remarks>
public sealed class SteppedArticleSource : IArticleSource
{
    private readonly Channel<SteppedFetch> _fetches = Channel.CreateUnbounded<SteppedFetch>();
    private int _asked;

    /// <inheritdoc/>
    public int ProviderCount => 1;

    /// <summary>Number of fetches so far.</summary>
    public int Asked => Volatile.Read(ref _asked);

    /// <summary>Returns the next fetch, which the test must answer.</summary>
    public ValueTask<SteppedFetch> NextAsync(CancellationToken cancellationToken) => _fetches.Reader.ReadAsync(cancellationToken);

    /// <inheritdoc/>
    public async ValueTask<ArticleReply> FetchAsync(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken)
    {
        if (request.Excluded.Contains(0))
            return ArticleReply.MissingEverywhere(new ArticleMissing(0, 0));
        Interlocked.Increment(ref _asked);
        var fetch = new SteppedFetch(request, sink, cancellationToken);
        await _fetches.Writer.WriteAsync(fetch, CancellationToken.None);
        try
        {
            return await fetch.Reply.WaitAsync(cancellationToken);
        }
        finally
        {
            fetch.Leave();
        }
    }

    /// <summary>Leaves every article unknown, because the provider answers BODY only.</summary>
    public ValueTask StatAsync(StatRequest request, Memory<ArticlePresence> answers, CancellationToken cancellationToken)
    {
        answers.Span.Fill(new ArticlePresence(default, default, Unanswered: default(ProviderSet).With(0)));
        return ValueTask.CompletedTask;
    }
}

/// <summary>A fetch that the test answers.</summary>
public sealed class SteppedFetch(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken)
{
    private readonly TaskCompletionSource<ArticleReply> _reply = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Lock _lock = new();
    private bool _hasStarted, _isOver;

    public ArticleRequest Request => request;

    /// <summary>Whether the fetch was canceled.</summary>
    public bool IsCancelled => cancellationToken.IsCancellationRequested;

    internal Task<ArticleReply> Reply => _reply.Task;

    /// <summary>Delivers the next bytes of the body. Does nothing once the fetch has ended, because its owner may then reuse the sink.</summary>
    public void Deliver(ReadOnlySpan<byte> raw)
    {
        lock (_lock)
        {
            if (_isOver)
                return;
            if (!_hasStarted)
                sink.Start(0);
            _hasStarted = true;
            sink.Write(raw, out _);
        }
    }

    /// <summary>Ends the fetch with a complete body.</summary>
    public void Finish() => _reply.SetResult(ArticleReply.FoundAt(0));

    /// <summary>Ends the fetch because the provider does not have the article.</summary>
    public void Miss() => _reply.SetResult(ArticleReply.MissingEverywhere(new ArticleMissing(1, 430)));

    /// <summary>Fails the fetch as a broken connection does.</summary>
    public void Break(NntpFault fault) => _reply.SetException(new NntpException(fault, "Scripted."));

    /// <summary>Releases the sink: waits for a running <see cref="Deliver"/>; later calls do nothing.</summary>
    internal void Leave()
    {
        lock (_lock)
            _isOver = true;
    }
}
