using System.Collections.Concurrent;
using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>Providers whose copies of one article differ from each other and from fetch to fetch.</summary>
/// <remarks>Thread-safe once it is set up.</remarks>
internal sealed class CopiesSource(int providers) : IArticleSource
{
    private readonly ConcurrentDictionary<(int Provider, string Id), ConcurrentQueue<byte[]>> _copies = new();
    private readonly ConcurrentQueue<(int Provider, string Id)> _served = new();

    public int ProviderCount => providers;

    /// <summary>Account of each provider, by index; distinct accounts by default.</summary>
    public IReadOnlyList<Guid> Accounts { get; init; } = [.. Enumerable.Range(1, providers).Select(static number => new Guid(number, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]))];

    /// <summary>Provider and id of each served copy, in order.</summary>
    public IReadOnlyList<(int Provider, string Id)> Served => [.. _served];

    /// <summary>Sets the copies that a provider serves, one per fetch, the last one repeatedly. Without copies it misses the article.</summary>
    public void Post(int provider, string id, params byte[][] copies) => _copies[(provider, id)] = new ConcurrentQueue<byte[]>(copies);

    public Guid ProviderId(int provider) => Accounts[provider];

    public ValueTask<ArticleReply> FetchAsync(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var id = request.Id.ToString();
        for (var provider = 0; provider < providers; provider++)
        {
            if (request.Excluded.Contains(provider) || !_copies.TryGetValue((provider, id), out var copies) || !copies.TryPeek(out var wire))
                continue;
            if (copies.Count > 1)
                copies.TryDequeue(out _);
            _served.Enqueue((provider, id));
            sink.Start(provider);
            for (var at = 0; at < wire.Length; at += 8192)
            {
                if (sink.Write(wire.AsSpan(at, Math.Min(8192, wire.Length - at)), out var consumed))
                    break;
                Xunit.Assert.Equal(Math.Min(8192, wire.Length - at), consumed);
            }

            return new ValueTask<ArticleReply>(ArticleReply.FoundAt(provider));
        }

        return new ValueTask<ArticleReply>(ArticleReply.MissingEverywhere(new ArticleMissing(providers, 430)));
    }

    public ValueTask StatAsync(StatRequest request, Memory<ArticlePresence> answers, CancellationToken cancellationToken)
    {
        answers.Span.Clear();
        return ValueTask.CompletedTask;
    }
}
