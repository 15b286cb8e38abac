using System.Collections.Concurrent;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;

namespace Sluice.Tools.FullNzbTester.Engine;

/// <summary>Stands between streams and providers and remembers who delivered each article, so that a wrong byte has a name.</summary>
internal sealed class FetchLog(IArticleSource source) : IArticleSource
{
    private readonly ConcurrentDictionary<MessageId, int> _deliveredBy = new();
    private int _underWay;
    private int _rounds;

    public int ProviderCount => source.ProviderCount;

    /// <summary>How often a fetch began while no other was under way: the round trips that nothing could have saved.</summary>
    public int Rounds => Volatile.Read(ref _rounds);

    /// <summary>Index of the provider that delivered an article last; null when none has.</summary>
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
