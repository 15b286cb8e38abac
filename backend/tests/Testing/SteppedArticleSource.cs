using System.Threading.Channels;
using Sluice.Usenet.Nntp;

namespace Sluice.Testing;

/// <summary>One provider whose every answer is given by the test, byte by byte if it likes.</summary>
/// <remarks>Thread-safe; the fetches come out in the order in which they were asked for.</remarks>
public sealed class SteppedArticleSource : IArticleSource
{
    private readonly Channel<SteppedFetch> _fetches = Channel.CreateUnbounded<SteppedFetch>();
    private int _asked;

    /// <inheritdoc/>
    public int ProviderCount => 1;

    /// <summary>Fetches asked for so far.</summary>
    public int Asked => Volatile.Read(ref _asked);

    /// <summary>The next fetch, which the test has to answer.</summary>
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

    /// <summary>Says nothing about any article: the provider answers BODY only.</summary>
    public ValueTask StatAsync(StatRequest request, Memory<ArticlePresence> answers, CancellationToken cancellationToken)
    {
        answers.Span.Fill(new ArticlePresence(default, default, Unanswered: default(ProviderSet).With(0)));
        return ValueTask.CompletedTask;
    }
}

/// <summary>A fetch that waits for what the test does with it.</summary>
public sealed class SteppedFetch(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken)
{
    private readonly TaskCompletionSource<ArticleReply> _reply = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Lock _lock = new();
    private bool _hasStarted, _isOver;

    /// <summary>The request.</summary>
    public ArticleRequest Request => request;

    /// <summary>Whether the fetch was given up.</summary>
    public bool IsCancelled => cancellationToken.IsCancellationRequested;

    internal Task<ArticleReply> Reply => _reply.Task;

    /// <summary>Delivers the next stretch of the body; nothing once the fetch has ended, when the sink is its owner's again.</summary>
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

    /// <summary>The body is whole.</summary>
    public void Finish() => _reply.SetResult(ArticleReply.FoundAt(0));

    /// <summary>The provider does not have it.</summary>
    public void Miss() => _reply.SetResult(ArticleReply.MissingEverywhere(new ArticleMissing(1, 430)));

    /// <summary>The connection breaks.</summary>
    public void Break(NntpFault fault) => _reply.SetException(new NntpException(fault, "Scripted."));

    /// <summary>Gives the sink back: waits for a <see cref="Deliver"/> that is under way, and later ones do nothing.</summary>
    internal void Leave()
    {
        lock (_lock)
            _isOver = true;
    }
}
