using System.Diagnostics.Metrics;
using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>
/// All providers of one state of the settings as one source of articles. A fetch walks them in the order of
/// <see cref="ProviderSelector"/> until one delivers: a miss is a value and moves on at once, a fault is tried again on another
/// connection of the same provider first.
/// </summary>
/// <remarks>
/// Thread-safe. It has indexes of its own; the connections behind them belong to the accounts, which several pools may use at the same
/// time. Dispose gives them back, and ends all fetches where no other pool uses them.
/// </remarks>
public sealed class ProviderPool : IArticleSource, IAsyncDisposable
{
    private readonly IReadOnlyList<ProviderOptions> _entries;
    private readonly List<Provider> _providers;
    private readonly NntpAccounts _accounts;
    private readonly NntpAccounts? _ownAccounts;
    private readonly FetchServices _services;
    private int _isDisposed;

    /// <summary>Creates a pool with accounts of its own; nothing is dialled before it is needed.</summary>
    /// <param name="providers">At most <see cref="ProviderSet.MaxProviders"/>; disabled ones keep their index and are never asked.</param>
    /// <param name="options">Deadlines and ceilings.</param>
    /// <param name="limiter">Shared by everything that fetches in this process.</param>
    /// <param name="time">Clock.</param>
    /// <param name="loggers">Where faults are noted.</param>
    /// <param name="memory">What has been learned before and goes on being learned; null: nothing, and nothing is kept.</param>
    public ProviderPool(
        IReadOnlyList<ProviderOptions> providers,
        NntpOptions options,
        GlobalOperationLimiter limiter,
        TimeProvider time,
        ILoggerFactory loggers,
        ProviderMemory? memory = null)
        : this(new NntpAccounts(limiter, time, loggers, memory), providers, options) => _ownAccounts = _accounts;

    /// <summary>Creates a pool over accounts, which take on these settings.</summary>
    /// <param name="accounts">Not owned.</param>
    /// <param name="providers">At most <see cref="ProviderSet.MaxProviders"/>; disabled ones keep their index and are never asked.</param>
    /// <param name="options">Deadlines and ceilings.</param>
    public ProviderPool(NntpAccounts accounts, IReadOnlyList<ProviderOptions> providers, NntpOptions options)
    {
        (_accounts, _entries) = (accounts, providers);
        var pools = accounts.Acquire(providers, options);
        _providers = [.. providers.Select((provider, index) => new Provider(index, provider, pools[index]) { KeepsOrder = options.KeepsOrder })];
        _services = new FetchServices(_providers, accounts.Shared, accounts.Releases);
    }

    /// <inheritdoc/>
    public int ProviderCount => _providers.Count;

    /// <inheritdoc/>
    public Guid ProviderId(int provider) => _providers[provider].Options.Id;

    /// <inheritdoc/>
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

    /// <inheritdoc/>
    public void Distrust(object connection)
    {
        foreach (var provider in _providers)
            provider.Pool.Distrust(connection);
    }

    /// <summary>Sockets at the account of a provider now, those that are being opened or closed included.</summary>
    public int Sockets(int provider) => _providers[provider].Pool.Sockets;

    /// <summary>How the account of a provider is used at the moment.</summary>
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
        };
    }

    /// <summary>What the connections of the account of a provider do at the moment.</summary>
    public ConnectionSnapshot Look(int provider) => _providers[provider].Pool.Snapshot;

    /// <summary>Asks a provider again, however it has failed before.</summary>
    public void Unblock(int provider) => _providers[provider].Pool.Unblock();

    /// <summary>Tries all connections that the account of a provider promises again, however few were found to be taken.</summary>
    public void ForgetCap(int provider) => _providers[provider].Pool.ForgetCap();

    /// <summary>Closes the connections of all providers that owe nothing.</summary>
    public void CloseIdle()
    {
        foreach (var pool in _providers.Select(provider => provider.Pool).Distinct())
            pool.CloseIdle();
    }

    /// <summary>Connections that a lane may use as things are, over all providers.</summary>
    public int EffectivePermits(OperationLane lane) => _accounts.Limiter.Effective(lane);

    /// <summary>Says what the connections of all accounts do, by the name <c>Sluice.Nntp</c>; the limiter has the permits.</summary>
    public Meter Meter => _accounts.Meter;

    /// <summary>Opens a connection to one provider if none is open, and leaves it in its pool.</summary>
    /// <exception cref="NntpException">It cannot be reached or logged in to; the message says why in a sentence.</exception>
    public Task ProbeAsync(int provider, CancellationToken cancellationToken) => _providers[provider].Pool.ProbeAsync(_providers[provider].Options, cancellationToken);

    /// <inheritdoc/>
    public ValueTask<ArticleReply> FetchAsync(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken) =>
        new ArticleFetch(_services, request, sink, cancellationToken).RunAsync();

    /// <inheritdoc/>
    public ValueTask StatAsync(StatRequest request, Memory<ArticlePresence> answers, CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(answers.Length, request.Ids.Length);
        answers.Span.Clear();
        return new StatWalk(_services, request).RunAsync(answers, cancellationToken);
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _isDisposed, 1) != 0)
            return;
        await _accounts.ReleaseAsync(_entries);
        if (_ownAccounts is not null)
            await _ownAccounts.DisposeAsync();
    }
}

/// <summary>How one provider is used at the moment.</summary>
/// <param name="Sockets">Connections, those that are being opened or closed included.</param>
/// <param name="PipeliningDepth">Bodies that a connection is asked for at a time.</param>
/// <param name="PinnedBecause">Why the depth is 1 whatever the line would bear, in a sentence for an operator; null while it is not.</param>
/// <param name="Fault">Why it is left alone for now; null while it is not.</param>
/// <remarks>A snapshot.</remarks>
public sealed record ProviderStatus(int Sockets, int PipeliningDepth, string? PinnedBecause, NntpFault? Fault)
{
    /// <summary>Connections that are being opened or closed.</summary>
    public int Changing { get; init; }

    /// <summary>Connections that owe nothing.</summary>
    public int Idle { get; init; }

    /// <summary>Connections that owe a reply.</summary>
    public int Busy => Sockets - Changing - Idle;

    /// <summary>As many connections as the server was found to take; null while that is all that are promised.</summary>
    public int? Cap { get; init; }

    /// <summary>From a command to the first byte of its reply, as the middle of the last few; null before the first.</summary>
    public TimeSpan? Latency { get; init; }

    /// <summary>The words behind <see cref="Fault"/>, as <see cref="NntpException.Detail"/> has them.</summary>
    public string? Detail { get; init; }
}

/// <summary>One entry of the settings in use: what it says, and the connections of its account.</summary>
/// <param name="Index">Place in the pool of providers.</param>
/// <param name="Options">The entry.</param>
/// <param name="Pool">The connections of its account, which other entries and other pools of providers may use too.</param>
internal sealed record Provider(int Index, ProviderOptions Options, NntpConnectionPool Pool)
{
    /// <summary>Whether those of one priority are used in their order, and not side by side.</summary>
    public bool KeepsOrder { get; init; }

    /// <summary>Orders those of one priority, the lowest first.</summary>
    public double Precedence => KeepsOrder ? Index : Pool.Backlog;

    /// <summary>Whether both have their articles from the same store, as far as the settings say.</summary>
    public bool SharesBackbone(Provider other) =>
        Options.Backbone.Length > 0 && string.Equals(Options.Backbone, other.Options.Backbone, StringComparison.OrdinalIgnoreCase);

    /// <summary>A body has come whole.</summary>
    public void Delivered(MessageId id, BreakerProbe? probe)
    {
        Pool.Health.Delivered(id);
        probe?.Passed();
    }
}
