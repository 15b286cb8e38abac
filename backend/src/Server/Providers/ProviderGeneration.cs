using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Reading;

namespace Sluice.Server.Providers;

/// <summary>
/// The engine of one state of the settings, and its table of providers over the accounts, which outlive it. A stream stays with the
/// generation in which it was opened; a retired generation is closed when the last of them has ended.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class ProviderGeneration : IArticleSource, IAsyncDisposable
{
    private static readonly TimeSpan DrainCheck = TimeSpan.FromSeconds(1);

    private readonly IArticleSource _source;
    private readonly TimeProvider _time;
    private int _fetches;

    /// <summary>Brings the accounts to the plan; nothing is dialled yet.</summary>
    /// <param name="plan">The providers and their settings.</param>
    /// <param name="builtIn">Source when the plan names no provider; null for none.</param>
    /// <param name="accounts">The accounts of the process; not owned.</param>
    /// <param name="time">Clock.</param>
    /// <param name="loggers">For the engine.</param>
    /// <param name="disk">Cache of the providers' articles; not owned.</param>
    /// <param name="streams">Learned by reading under earlier generations; not owned.</param>
    public ProviderGeneration(
        ProviderPlan plan, IArticleSource? builtIn, NntpAccounts accounts, TimeProvider time, ILoggerFactory loggers, DiskSegmentCache? disk, StreamMemory streams)
    {
        Plan = plan;
        _time = time;
        accounts.Limiter.Configure(plan.Connections, plan.StreamingPriority, plan.QueueConnections);
        if (plan.HasProviders || builtIn is null)
            Pool = new ProviderPool(accounts, plan.Providers, plan.Nntp);

        _source = (IArticleSource?)Pool ?? builtIn!;

        // Built-in articles have no way to be damaged on.
        var options = Pool is null ? plan.Streams with { AskAgainAfter = TimeSpan.Zero } : plan.Streams;
        Engine = new StreamEngine(this, options, time, loggers, Pool is null ? null : disk, streams);
    }

    /// <summary>The plan that it was made from.</summary>
    public ProviderPlan Plan { get; }

    /// <summary>The engine over its providers.</summary>
    public StreamEngine Engine { get; }

    /// <summary>Its providers; null while the built-in articles answer.</summary>
    public ProviderPool? Pool { get; }

    /// <inheritdoc/>
    public int ProviderCount => _source.ProviderCount;

    /// <inheritdoc/>
    public Guid ProviderId(int provider) => _source.ProviderId(provider);

    /// <inheritdoc/>
    public ProviderSet StoreOf(int provider) => _source.StoreOf(provider);

    /// <inheritdoc/>
    public void Distrust(object connection) => _source.Distrust(connection);

    private bool IsIdle => Engine.OpenStreams == 0 && Volatile.Read(ref _fetches) == 0;

    /// <inheritdoc/>
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

    /// <inheritdoc/>
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

    /// <summary>Waits until the last stream and fetch of the generation have ended, then closes it. Called once it is no longer handed out.</summary>
    /// <param name="cancellationToken">The process ends: closes at once.</param>
    public async Task RetireAsync(CancellationToken cancellationToken)
    {
        using var timer = new PeriodicTimer(DrainCheck, _time);
        try
        {
            // A caller that was handed the generation just before it was replaced opens its stream before the first check.
            do
                await timer.WaitForNextTickAsync(cancellationToken);
            while (!IsIdle);
        }
        catch (OperationCanceledException)
        {
            // The process ends, and with it the clients of these streams.
        }

        await DisposeAsync();
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await Engine.DisposeAsync();
        if (Pool is not null)
            await Pool.DisposeAsync();
    }
}
