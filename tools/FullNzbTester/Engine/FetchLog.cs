using System.Collections.Concurrent;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;

namespace Sluice.Tools.FullNzbTester.Engine;

/// <summary>Forwards fetches to the providers and records who delivered each article, so that a wrong byte can be traced to its provider.</summary>
internal sealed class FetchLog(IArticleSource source) : IArticleSource
{
    private readonly ConcurrentDictionary<MessageId, int> _deliveredBy = new();
    private int _underWay;
    private int _rounds;

    public int ProviderCount => source.ProviderCount;

    /// <summary>Number of fetches that began while no other was in progress. No prefetch could have saved their round trips.</summary>
    public int Rounds => Volatile.Read(ref _rounds);

    /// <summary>Index of the provider that last delivered an article; null if none has.</summary>
    public int? DeliveredBy(MessageId id) => _deliveredBy.TryGetValue(id, out var provider) ? provider : null;

    public async ValueTask<ArticleReply> FetchAsync(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken)
    {
        if (Interlocked.Increment(ref _underWay) == 1)
            Interlocked.Increment(ref _rounds);
        try
        {
            var reply = await source.FetchAsync(request, sink, cancellationToken);
            if (reply.IsFound)
                _deliveredBy[request.Id] = reply.Provider;
            return reply;
        }
        finally
        {
            Interlocked.Decrement(ref _underWay);
        }
    }

    public ValueTask StatAsync(StatRequest request, Memory<ArticlePresence> answers, CancellationToken cancellationToken) =>
        source.StatAsync(request, answers, cancellationToken);
}
