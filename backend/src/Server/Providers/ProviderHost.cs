using Microsoft.Extensions.Options;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Reading;

namespace Sluice.Server.Providers;

internal enum ProviderCondition
{
    Ok,

    /// <summary>The provider has failed and is in cooldown.</summary>
    Resting,

    /// <summary>The provider refuses the login, or its settings are invalid. Sluice still retries.</summary>
    Refused,
    Disabled,
}

/// <summary>A snapshot of a configured provider. <c>Status</c> is null while no provider is enabled.</summary>
internal sealed record ProviderState(ProviderOptions Options, ProviderStatus? Status)
{
    /// <summary>Number of connections, including those that are opening or closing.</summary>
    public int Sockets => Status?.Sockets ?? 0;

    /// <summary>The id under which its account counts bytes: the id of the first entry if several entries share the account.</summary>
    public Guid Account => Status?.Account ?? Options.Id;

    /// <summary>The fault that started its cooldown; null if usable.</summary>
    public NntpFault? Fault => Status?.Fault;

    public ProviderCondition Condition => Options.Kind == ProviderKind.Disabled ? ProviderCondition.Disabled : Fault switch
    {
        null => ProviderCondition.Ok,
        NntpFault.LoginRefused or NntpFault.AccountRefused or NntpFault.CertificateRefused or NntpFault.TlsFailed or NntpFault.NameNotResolved => ProviderCondition.Refused,
        _ => ProviderCondition.Resting,
    };
}

/// <summary>
/// A snapshot of all fetching. Used connections are waiting for a reply; open ones accept commands. <c>Reachable</c> counts enabled providers without a
/// known fault. If <c>IsLineFull</c>, further requests would only queue. <c>SincePaced</c> is the time since playback last waited for the bandwidth
/// limit, zero during a wait. <c>Limit</c> is in bytes per second; 0 for unlimited.
/// </summary>
internal sealed record FetchingSnapshot(int Used, int Allowed, int Providers, int Reachable, int Open, bool IsLineFull, TimeSpan SincePaced, long Limit);

/// <summary>The source of articles while no provider is configured. Created on first use.</summary>
internal sealed record BuiltInArticles(Func<IArticleSource> Source);

/// <summary>
/// The configured providers as one source of articles, with the engine that reads from them. Changed settings create a new generation of both over the
/// same accounts. Running work stays with the old one (CFG-5).
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class ProviderHost : IArticleSource, IAsyncDisposable
{
    private readonly IOptionsMonitor<UsenetOptions> _usenet;
    private readonly IOptionsMonitor<StreamingOptions> _streaming;
    private readonly BuiltInArticles? _builtIn;
    private readonly ProviderMemory _memory;
    private readonly NntpAccounts _accounts;
    private readonly StreamMemory _streams;
    private readonly StreamMemory? _ownStreams;
    private readonly SegmentCacheHost? _segments;
    private readonly BandwidthLimit? _bandwidth;
    private readonly TimeProvider _time;
    private readonly ILoggerFactory _loggers;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _ending = new();
    private readonly Lock _lock = new();
    private readonly List<Task> _background = [];
    private readonly IDisposable?[] _watches;
    private volatile ProviderGeneration _current;
    private DiskSegmentCache? _disk;
    private bool _isStarted;

    /// <summary>Applies the settings and follows changes. Connects only after <see cref="Start"/> or the first fetch.</summary>
    public ProviderHost(
        IOptionsMonitor<UsenetOptions> usenet,
        IOptionsMonitor<StreamingOptions> streaming,
        TimeProvider time,
        ILoggerFactory loggers,
        BuiltInArticles? builtIn = null,
        ProviderMemory? memory = null,
        SegmentCacheHost? segments = null,
        StreamMemory? streams = null,
        BandwidthLimit? bandwidth = null)
    {
        _usenet = usenet;
        _streaming = streaming;
        _builtIn = builtIn;
        _memory = memory ?? new ProviderMemory(time);
        _streams = streams ?? (_ownStreams = new StreamMemory(time));
        _segments = segments;
        _bandwidth = bandwidth;
        _time = time;
        _loggers = loggers;
        _logger = loggers.CreateLogger<ProviderHost>();
        _memory.Configure(usenet.CurrentValue.MissCacheTime, usenet.CurrentValue.MissCacheEntries);
        _accounts = new NntpAccounts(new GlobalOperationLimiter(time: time), time, loggers, _memory, names: null, bandwidth?.Limiter);
        _current = Make(Plan(out _));
        _watches = [usenet.OnChange(_ => Follow()), streaming.OnChange(_ => Follow())];
    }

    /// <summary>Whether any provider is enabled. Otherwise only the built-in articles are available.</summary>
    public bool HasProviders => _current.Plan.HasProviders;

    /// <summary>The engine for the next stream. Do not store it, because changed settings replace it.</summary>
    public StreamEngine Engine => _current.Engine;

    /// <summary>All configured providers, in configured order.</summary>
    public IReadOnlyList<ProviderState> Providers
    {
        get
        {
            var current = _current;
            return [.. current.Plan.Providers.Select((options, index) => new ProviderState(options, current.Pool?.Status(index)))];
        }
    }

    /// <summary>Usage since startup by provider id, including removed providers.</summary>
    public IReadOnlyDictionary<Guid, ProviderUse> Uses => _accounts.Uses;

    /// <summary>Bytes charged to the data cap of an account, as in <see cref="NntpAccounts.Charged"/>.</summary>
    public long Charged(Guid account) => _accounts.Charged(account);

    public void SetCharged(Guid account, long bytes) => _accounts.SetCharged(account, bytes);

    public void AddCharged(Guid account, long bytes) => _accounts.AddCharged(account, bytes);

    /// <summary>Applies changed counts to waiting fetches and imports. Call under no lock.</summary>
    public void OnQuotaChanged() => _accounts.OnQuotaChanged();

    /// <summary>Times to the first byte of articles since startup, by provider id.</summary>
    public IReadOnlyDictionary<Guid, HistogramSnapshot> FirstBytes => _accounts.FirstBytes;

    public FetchTotals FetchTotals => _accounts.Totals;

    /// <summary>Bytes of segments that readers hold ahead of them.</summary>
    public long HeldBytes => _streams.HeldBytes;

    /// <summary>Maximum bytes of segments that all readers may hold.</summary>
    public long ByteBudget => _current.Plan.Streams.ByteBudget;

    /// <summary>Completes when a provider leaves its cooldown. Read the property again for the next recovery.</summary>
    public Task NextRecovery => _accounts.NextRecovery;

    /// <summary>Returns the number of connections that a lane may use right now.</summary>
    public int Effective(OperationLane lane) => _accounts.Limiter.Effective(lane);

    /// <summary>Returns the number of connections that a lane uses.</summary>
    public int InUse(OperationLane lane) => _accounts.Limiter.InUse(lane);

    /// <summary>Bytes from all providers since startup.</summary>
    public long BytesReceived => _accounts.BytesReceived;

    /// <summary>Sources of the segments delivered since startup.</summary>
    public ServedCounts Served => _streams.Served;

    /// <summary>Number of connections waiting for a reply, and their limit.</summary>
    public (int Used, int Allowed) Connections
    {
        get
        {
            var limiter = _accounts.Limiter;
            return (Enum.GetValues<OperationLane>().Sum(limiter.InUse), limiter.Capacity);
        }
    }

    public FetchingSnapshot Snapshot()
    {
        var current = _current;
        ConnectionSnapshot[] asked =
        [
            .. current.Plan.Providers.Index()
                .Where(provider => provider.Item.Kind != ProviderKind.Disabled && current.Pool is not null)
                .Select(provider => current.Pool!.Look(provider.Index)),
        ];
        var (used, allowed) = Connections;
        return new FetchingSnapshot(
            used,
            allowed,
            asked.Length,
            asked.Count(static provider => provider.IsReachable),
            asked.Sum(static provider => provider.Open),
            asked.Any(static provider => provider.IsLineFull),
            _bandwidth?.Limiter.SincePaced(OperationLane.Playback) ?? TimeSpan.MaxValue,
            _bandwidth?.Current ?? 0);
    }

    /// <summary>Ends the cooldown of the provider at this index in <see cref="Providers"/>.</summary>
    public void Unblock(int provider)
    {
        if (_current.Pool is { } pool && provider < pool.ProviderCount)
            pool.Unblock(provider);
    }

    /// <summary>Forgets the learned connection limit of the provider at this index in <see cref="Providers"/>.</summary>
    public void ForgetCap(int provider)
    {
        if (_current.Pool is { } pool && provider < pool.ProviderCount)
            pool.ForgetCap(provider);
    }

    /// <summary>Begins a test of an account, saved or not. The caller disposes it.</summary>
    public AccountTest Test(ProviderOptions provider, INameResolver names) => _accounts.Test(provider, names, _current.Plan.Nntp);

    /// <summary>Closes all idle connections.</summary>
    public void CloseIdle() => _current.Pool?.CloseIdle();

    public int ProviderCount => _current.ProviderCount;

    public Guid ProviderId(int provider) => _current.ProviderId(provider);

    /// <summary>Forgets which providers lack an article, so that all are asked again.</summary>
    public void ForgetMisses(MessageId id)
    {
        var current = _current;
        for (var provider = 0; provider < current.ProviderCount; provider++)
            _memory.ForgetMissing(current.ProviderId(provider), id);
    }

    public ProviderSet StoreOf(int provider) => _current.StoreOf(provider);

    public void Distrust(object connection) => _current.Distrust(connection);

    public ValueTask<ArticleReply> FetchAsync(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken) =>
        _current.FetchAsync(request, sink, cancellationToken);

    public ValueTask StatAsync(StatRequest request, Memory<ArticlePresence> answers, CancellationToken cancellationToken) =>
        _current.StatAsync(request, answers, cancellationToken);

    /// <summary>Opens the disk cache. Connects to every provider now and after each change, and logs the result.</summary>
    public void Start()
    {
        lock (_lock)
        {
            _isStarted = true;
            var plan = Plan(out var warnings);
            _disk = _segments?.Open();
            // Accounts are created before the values of the last run are loaded, so let them read these now.
            _accounts.Recall();
            Replace(plan);
            Announce(_current, warnings);
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var watch in _watches)
            watch?.Dispose();
        Task[] background;
        lock (_lock)
            background = [.. _background];
        await _ending.CancelAsync();
        await Task.WhenAll(background);
        await _current.DisposeAsync();
        await _accounts.DisposeAsync();
        _ownStreams?.Dispose();
        _ending.Dispose();
    }

    private ProviderPlan Plan(out IReadOnlyList<string> warnings) =>
        ProviderPlan.From(_usenet.CurrentValue, _streaming.CurrentValue, GC.GetGCMemoryInfo().TotalAvailableMemoryBytes, out warnings);

    private ProviderGeneration Make(ProviderPlan plan) => new(plan, plan.HasProviders ? null : _builtIn?.Source(), _accounts, _time, _loggers, _disk, _streams);

    private void Follow()
    {
        lock (_lock)
        {
            _memory.Configure(_usenet.CurrentValue.MissCacheTime, _usenet.CurrentValue.MissCacheEntries);
            var plan = Plan(out var warnings);
            if (plan.Equals(_current.Plan) || _ending.IsCancellationRequested)
                return;

            Replace(plan);
            if (_isStarted)
                Announce(_current, warnings);
        }
    }

    private void Replace(ProviderPlan plan)
    {
        var old = _current;
        _current = Make(plan);
        _background.RemoveAll(task => task.IsCompleted);
        _background.Add(WatchAsync(old.RetireAsync(_ending.Token)));
    }

    private void Announce(ProviderGeneration generation, IReadOnlyList<string> warnings)
    {
        foreach (var warning in warnings)
            ProvidersLog.LeftOut(_logger, warning);
        if (!generation.Plan.Streams.ChecksCrc)
            ProvidersLog.CrcNotChecked(_logger);
        if (!generation.Plan.HasProviders)
        {
            ProvidersLog.NoProvider(_logger);
            return;
        }

        if (generation.Pool is not { } pool)
            return;
        ProvidersLog.Permits(
            _logger, pool.EffectivePermits(OperationLane.Playback), pool.EffectivePermits(OperationLane.Import), pool.EffectivePermits(OperationLane.HealthCheck));
        _background.Add(WatchAsync(Task.WhenAll(generation.Plan.Providers.Select((provider, index) => TryAsync(pool, index, provider)))));
    }

    /// <summary>Opens the first connection of a provider, which stays in the pool. Logs the result in one line.</summary>
    private async Task TryAsync(ProviderPool pool, int index, ProviderOptions provider)
    {
        if (provider.Kind == ProviderKind.Disabled)
        {
            ProvidersLog.Disabled(_logger, provider.Name);
            return;
        }

        var started = _time.GetTimestamp();
        try
        {
            await pool.ProbeAsync(index, _ending.Token);
            ProvidersLog.Connected(
                _logger, provider.Name, provider.Host, provider.Port, (long)_time.GetElapsedTime(started).TotalMilliseconds,
                provider.UseTls ? "TLS" : "plain text", provider.User is null ? "no login" : "login accepted", provider.MaxConnections);
        }
        catch (NntpException e)
        {
            ProvidersLog.Failed(_logger, provider.Name, e.Message);
        }
        catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException)
        {
            // The settings have changed again, or the process is stopping.
        }
    }

    /// <summary>Logs a failure of background work, because it must not fail the disposal.</summary>
    private async Task WatchAsync(Task work)
    {
        try
        {
            await work;
        }
        catch (Exception failure)
        {
            ProvidersLog.WorkBroke(_logger, failure);
        }
    }
}
