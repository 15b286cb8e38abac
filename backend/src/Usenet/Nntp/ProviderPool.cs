using Microsoft.Extensions.Logging;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// All providers as one source of articles. A fetch walks them in the order of <see cref="ProviderSelector"/> until one delivers:
/// a miss is a value and moves on at once, a fault is tried again on another connection of the same provider first.
/// </summary>
/// <remarks>Thread-safe. Owns its connections; dispose ends all fetches and closes all sockets.</remarks>
public sealed class ProviderPool : IArticleSource, IAsyncDisposable
{
    private const int HandshakesInAll = 6;
    private static readonly TimeSpan LoneCooldown = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestLoneCooldown = TimeSpan.FromSeconds(15);

    private readonly List<Provider> _providers = [];
    private readonly SharedResources _shared;
    private readonly FetchParts _parts;
    private readonly List<ProviderProber> _probers = [];

    /// <summary>Creates the pool; nothing is dialled before it is needed.</summary>
    /// <param name="providers">At most <see cref="ProviderSet.MaxProviders"/>; disabled ones keep their index and are never asked.</param>
    /// <param name="options">Deadlines and ceilings.</param>
    /// <param name="limiter">Shared by everything that fetches in this process.</param>
    /// <param name="time">Clock.</param>
    /// <param name="loggers">Where faults are noted.</param>
    /// <param name="memory">What has been learned before and goes on being learned; null: nothing, and nobody keeps it.</param>
    public ProviderPool(
        IReadOnlyList<ProviderOptions> providers,
        NntpOptions options,
        GlobalOperationLimiter limiter,
        TimeProvider time,
        ILoggerFactory loggers,
        ProviderMemory? memory = null)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(providers.Count, ProviderSet.MaxProviders);
        // To rest from a provider spares time for the others; where there is no other, a reader waits for every second of it.
        if (providers.Count(provider => provider.Kind != ProviderKind.Disabled) == 1)
            options = options with { BreakerCooldown = LoneCooldown, BreakerLongestCooldown = LongestLoneCooldown };
        _shared = new SharedResources(options, limiter, new SemaphoreSlim(HandshakesInAll), new NntpMeter(time), memory ?? new ProviderMemory(time), time, loggers.CreateLogger<ProviderPool>());
        for (var index = 0; index < providers.Count; index++)
        {
            _providers.Add(new Provider(index, providers[index], new NntpConnectionPool(index, providers[index], _shared)) { KeepsOrder = options.KeepsOrder });
        }

        _parts = new FetchParts(_providers, _shared);
        _probers.AddRange(_providers.Select(provider => new ProviderProber(provider, time)));
        limiter.Allow(providers.Where(provider => provider.Kind != ProviderKind.Disabled).Sum(provider => provider.MaxConnections));
        limiter.Returned += PumpAll;
    }

    /// <inheritdoc/>
    public int ProviderCount => _providers.Count;

    /// <inheritdoc/>
    public Guid ProviderId(int provider) => _providers[provider].Options.Id;

    /// <summary>Sockets at a provider now, those that are being opened or closed included.</summary>
    public int Sockets(int provider) => _providers[provider].Pool.Sockets;

    /// <summary>How a provider is used at the moment.</summary>
    public ProviderStatus Status(int provider)
    {
        var pool = _providers[provider].Pool;
        return new ProviderStatus(pool.Sockets, pool.Depth.Bodies(pool.Line), pool.Depth.PinnedBecause);
    }

    /// <summary>Connections that a lane may use as things are, over all providers.</summary>
    public int EffectivePermits(OperationLane lane) => _shared.Limiter.Effective(lane);

    /// <summary>What the connections have done since the start; the limiter has the permits.</summary>
    public NntpCounters Counters => _shared.Meter.Read();

    /// <summary>Opens a connection to one provider if none is open, and leaves it in its pool.</summary>
    /// <exception cref="NntpException">It cannot be reached or logged in to; the message says why in a sentence.</exception>
    public Task ProbeAsync(int provider, CancellationToken cancellationToken) => _providers[provider].Pool.ProbeAsync(cancellationToken);

    /// <inheritdoc/>
    public ValueTask<ArticleReply> FetchAsync(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken) =>
        _parts.Rent().RunAsync(request, sink, cancellationToken);

    /// <inheritdoc/>
    public ValueTask StatAsync(StatRequest request, Memory<ArticlePresence> answers, CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(answers.Length, request.Ids.Length);
        answers.Span.Clear();
        return new StatWalk(_providers, _shared, request).RunAsync(answers, cancellationToken);
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        _shared.Limiter.Returned -= PumpAll;
        await Task.WhenAll(_probers.Select(prober => prober.DisposeAsync().AsTask()));
        await Task.WhenAll(_providers.Select(provider => provider.Pool.DisposeAsync().AsTask()));
        _parts.Dispose();
        _shared.Handshakes.Dispose();
    }

    private void PumpAll()
    {
        foreach (var provider in _providers)
            provider.Pool.Pump();
    }
}
