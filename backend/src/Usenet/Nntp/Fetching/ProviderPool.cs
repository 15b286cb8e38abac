using System.Diagnostics.Metrics;
using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>
/// All providers of one version of the settings, as one source of articles. A fetch asks them in the order of <see cref="ProviderSelector"/> until one
/// delivers. After a miss the next provider is asked at once; a fault is first retried over another connection of the same provider.
/// </summary>
/// <remarks>
/// Thread-safe. The provider indexes belong to this pool, but the connections belong to the accounts, which several pools may share. Dispose releases the
/// accounts, and ends all fetches if no other pool uses these accounts.
/// </remarks>
public sealed class ProviderPool : IArticleSource, IAsyncDisposable
{
    private readonly IReadOnlyList<ProviderOptions> _entries;
    private readonly List<Provider> _providers;
    private readonly NntpAccounts _accounts;
    private readonly NntpAccounts? _ownAccounts;
    private readonly FetchServices _services;
    private int _isDisposed;

    /// <summary>Creates a pool with its own accounts, without opening any connection.</summary>
    /// <param name="providers">At most <see cref="ProviderSet.MaxProviders"/>; disabled ones keep their index but are never asked.</param>
    /// <param name="limiter">Shared by everything that fetches in this process.</param>
    /// <param name="memory">Learned facts about the providers; null to start without any and keep none.</param>
    public ProviderPool(
        IReadOnlyList<ProviderOptions> providers,
        NntpOptions options,
        GlobalOperationLimiter limiter,
        TimeProvider time,
        ILoggerFactory loggers,
        ProviderMemory? memory = null)
        : this(new NntpAccounts(limiter, time, loggers, memory), providers, options) => _ownAccounts = _accounts;

    /// <summary>Creates a pool over shared accounts, and applies the settings to them.</summary>
    /// <param name="accounts">Not owned.</param>
    /// <param name="providers">At most <see cref="ProviderSet.MaxProviders"/>; disabled ones keep their index but are never asked.</param>
    public ProviderPool(NntpAccounts accounts, IReadOnlyList<ProviderOptions> providers, NntpOptions options)
    {
        (_accounts, _entries) = (accounts, providers);
        var pools = accounts.Acquire(providers, options);
        _providers = [.. providers.Select((provider, index) => new Provider(index, provider, pools[index]) { KeepsOrder = options.KeepsOrder })];
        _services = new FetchServices(_providers, accounts.Shared, accounts.Releases);
    }

    public int ProviderCount => _providers.Count;
    public Guid ProviderId(int provider) => _providers[provider].Options.Id;

    public ProviderSet StoreOf(int provider)
    {
        var own = _providers[provider];
        var store = default(ProviderSet).With(provider);
        foreach (var other in _providers)
        {
            if (other.Pool == own.Pool || own.SharesBackbone(other))
                store = store.With(other.Index);
        }

        return store;
    }

    public void Distrust(object connection)
    {
        foreach (var provider in _providers)
            provider.Pool.Distrust(connection);
    }

    /// <summary>Sockets of a provider's account: open, opening and closing.</summary>
    public int Sockets(int provider) => _providers[provider].Pool.Sockets;

    /// <summary>The current state of a provider's account.</summary>
    public ProviderStatus Status(int provider)
    {
        var pool = _providers[provider].Pool;
        var (counts, failure) = (pool.Counts, pool.Health.Dials.Failure ?? pool.Health.Bodies.Failure);
        return new ProviderStatus(counts.Open + counts.Changing, pool.Depth.Bodies(pool.Line), pool.Depth.PinnedBecause, failure?.Fault)
        {
            Changing = counts.Changing,
            Idle = counts.Idle,
            Cap = counts.Cap,
            Latency = pool.Line.Latency,
            Detail = failure?.Detail,
            Account = pool.Id,
            Quota = pool.Quota.State,
        };
    }

    /// <summary>The current load of a provider's connections.</summary>
    public ConnectionSnapshot Look(int provider) => _providers[provider].Pool.Snapshot;

    /// <summary>Resets the breakers of a provider, so that it is asked again.</summary>
    public void Unblock(int provider) => _providers[provider].Pool.Unblock();

    /// <summary>Forgets the learned connection cap of a provider, so that all promised connections may be tried.</summary>
    public void ForgetCap(int provider) => _providers[provider].Pool.ForgetCap();

    /// <summary>Closes the idle connections of all providers.</summary>
    public void CloseIdle()
    {
        foreach (var pool in _providers.Select(provider => provider.Pool).Distinct())
            pool.CloseIdle();
    }

    /// <summary>Number of connections that a lane may use now, across all providers.</summary>
    public int EffectivePermits(OperationLane lane) => _accounts.Limiter.Effective(lane);

    public Meter Meter => _accounts.Meter;

    /// <summary>Opens a connection to one provider, unless one is already open, and leaves it in the pool.</summary>
    /// <exception cref="NntpException">The server cannot be reached or refuses the login; the message is a sentence for the user.</exception>
    public Task ProbeAsync(int provider, CancellationToken cancellationToken) => _providers[provider].Pool.ProbeAsync(_providers[provider].Options, cancellationToken);

    public ValueTask<ArticleReply> FetchAsync(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken) =>
        new ArticleFetch(_services, request, sink, cancellationToken).RunAsync();

    public ValueTask StatAsync(StatRequest request, Memory<ArticlePresence> answers, CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(answers.Length, request.Ids.Length);
        answers.Span.Clear();
        return new StatWalk(_services, request).RunAsync(answers, cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) != 0)
            return;
        await _accounts.ReleaseAsync(_entries);
        if (_ownAccounts is not null)
            await _ownAccounts.DisposeAsync();
    }
}

/// <summary>A snapshot of one provider. Busy connections have commands, idle ones have none, and changing ones are being opened or closed.</summary>
/// <param name="Sockets">Open, opening and closing connections.</param>
/// <param name="PipeliningDepth">Outstanding bodies per connection.</param>
/// <param name="PinnedBecause">Why the depth is fixed at 1, as a sentence for an operator; null if it is not.</param>
/// <param name="Fault">Why the provider is in cooldown; null if it is not in cooldown.</param>
public sealed record ProviderStatus(int Sockets, int PipeliningDepth, string? PinnedBecause, NntpFault? Fault)
{
    public int Changing { get; init; }

    public int Idle { get; init; }

    public int Busy => Sockets - Changing - Idle;

    /// <summary>The learned connection cap; null if the server allows all promised connections.</summary>
    public int? Cap { get; init; }

    /// <summary>Median time to the first byte of the last few replies; null before the first.</summary>
    public TimeSpan? Latency { get; init; }

    /// <summary>Identifies the account in <see cref="NntpAccounts.Uses"/>: the id of its first entry in use.</summary>
    public Guid Account { get; init; }

    public QuotaState Quota { get; init; }

    /// <summary>The server's words behind <see cref="Fault"/>, as in <see cref="NntpException.Detail"/>.</summary>
    public string? Detail { get; init; }
}

/// <summary>One settings entry in use, with the connections of its account.</summary>
/// <param name="Pool">The connections of its account, possibly shared with other entries and pools.</param>
internal sealed record Provider(int Index, ProviderOptions Options, NntpConnectionPool Pool)
{
    public bool KeepsOrder { get; init; }

    /// <summary>Sort key among providers with equal priority, lowest first.</summary>
    public double Precedence => KeepsOrder ? Index : Pool.Backlog;

    /// <summary>Whether both providers use the same backbone, according to the settings.</summary>
    public bool SharesBackbone(Provider other) =>
        Options.Backbone.Length > 0 && string.Equals(Options.Backbone, other.Options.Backbone, StringComparison.OrdinalIgnoreCase);

    public void Delivered(MessageId id, BreakerProbe? probe)
    {
        Pool.Health.Delivered(id);
        probe?.Passed();
    }
}
