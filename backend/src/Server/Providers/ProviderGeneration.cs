using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Reading;

namespace Sluice.Server.Providers;

/// <summary>
/// The engine for one state of settings and providers. Accounts outlive it. A stream stays with the generation that opened it, so a retired generation
/// closes after its last stream.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class ProviderGeneration : IArticleSource, IAsyncDisposable
{
    private static readonly TimeSpan DrainCheck = TimeSpan.FromSeconds(1);

    private readonly IArticleSource _source;
    private readonly TimeProvider _time;
    private int _fetches;

    /// <summary>
    /// Applies the plan to the accounts without connecting. <paramref name="builtIn"/> is the source for a plan without providers. Does not own the
    /// accounts, the disk cache and <paramref name="streams"/>, because they outlive a generation.
    /// </summary>
    public ProviderGeneration(
        ProviderPlan plan, IArticleSource? builtIn, NntpAccounts accounts, TimeProvider time, ILoggerFactory loggers, DiskSegmentCache? disk, StreamMemory streams)
    {
        Plan = plan;
        _time = time;
        accounts.Limiter.Configure(plan.Connections, plan.StreamingPriority, plan.QueueConnections);
        if (plan.HasProviders || builtIn is null)
            Pool = new ProviderPool(accounts, plan.Providers, plan.Nntp);

        _source = (IArticleSource?)Pool ?? builtIn!;

        // No retry after damage, because built-in articles cannot be damaged in transit.
        var options = Pool is null ? plan.Streams with { AskAgainAfter = TimeSpan.Zero } : plan.Streams;
        Engine = new StreamEngine(this, options, time, loggers, Pool is null ? null : disk, streams);
    }

    public ProviderPlan Plan { get; }

    public StreamEngine Engine { get; }

    /// <summary>The connections; null while the built-in articles are the source.</summary>
    public ProviderPool? Pool { get; }

    public int ProviderCount => _source.ProviderCount;

    public Guid ProviderId(int provider) => _source.ProviderId(provider);

    public ProviderSet StoreOf(int provider) => _source.StoreOf(provider);

    public void Distrust(object connection) => _source.Distrust(connection);

    private bool IsIdle => Engine.OpenStreams == 0 && Volatile.Read(ref _fetches) == 0;

    public async ValueTask<ArticleReply> FetchAsync(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken)
    {
        Interlocked.Increment(ref _fetches);
        try
        {
            return await _source.FetchAsync(request, sink, cancellationToken);
        }
        finally
        {
            Interlocked.Decrement(ref _fetches);
        }
    }

    public async ValueTask StatAsync(StatRequest request, Memory<ArticlePresence> answers, CancellationToken cancellationToken)
    {
        Interlocked.Increment(ref _fetches);
        try
        {
            await _source.StatAsync(request, answers, cancellationToken);
        }
        finally
        {
            Interlocked.Decrement(ref _fetches);
        }
    }

    /// <summary>Waits for the last stream and fetch, then closes. Cancellation closes at once. Call after no caller can get this generation.</summary>
    public async Task RetireAsync(CancellationToken cancellationToken)
    {
        using var timer = new PeriodicTimer(DrainCheck, _time);
        try
        {
            // Wait at least once, because a caller that just got this generation may still open its stream.
            do
                await timer.WaitForNextTickAsync(cancellationToken);
            while (!IsIdle);
        }
        catch (OperationCanceledException)
        {
            // The process is stopping, so these streams end too.
        }

        await DisposeAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await Engine.DisposeAsync();
        if (Pool is not null)
            await Pool.DisposeAsync();
    }
}
