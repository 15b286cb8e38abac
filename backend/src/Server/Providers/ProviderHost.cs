using Microsoft.Extensions.Options;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Reading;

namespace Sluice.Server.Providers;

/// <summary>A provider of the settings at one moment.</summary>
/// <param name="Options">What the settings say.</param>
/// <param name="Status">How it is used; null while no provider is.</param>
internal sealed record ProviderState(ProviderOptions Options, ProviderStatus? Status)
{
    /// <summary>Connections, those that are being opened or closed included.</summary>
    public int Sockets => Status?.Sockets ?? 0;

    /// <summary>Why it is left alone for now; null while it is not.</summary>
    public NntpFault? Fault => Status?.Fault;
}

/// <summary>What fetching does at one moment.</summary>
/// <param name="Used">Connections that owe a reply.</param>
/// <param name="Allowed">Connections that may owe one at a time.</param>
/// <param name="Providers">Providers that may be asked.</param>
/// <param name="Reachable">Those of them that can be, as far as is known.</param>
/// <param name="Open">Connections that take commands.</param>
/// <param name="IsLineFull">Whether more that is asked for would only queue on the line of a provider.</param>
/// <param name="SincePaced">For how long no fetch of playback has waited for the limit of bandwidth; zero while one does.</param>
/// <param name="Limit">That limit in bytes per second; 0: none.</param>
internal sealed record FetchingSnapshot(int Used, int Allowed, int Providers, int Reachable, int Open, bool IsLineFull, TimeSpan SincePaced, long Limit);

/// <summary>The articles that can be had while no provider is configured.</summary>
/// <param name="Source">Asked when they are needed; a server with providers never is.</param>
internal sealed record BuiltInArticles(Func<IArticleSource> Source);

/// <summary>
/// The providers of the settings as the one source of articles, and the engine that reads from them. A change of settings
/// makes a new generation of both over the same accounts; what runs goes on with the old one (CFG-5).
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

    /// <summary>Takes the settings as they are and follows them; nothing is dialled before <see cref="Start"/> or the first fetch.</summary>
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

    /// <summary>Whether any provider may be asked; otherwise the built-in articles are all there is.</summary>
    public bool HasProviders => _current.Plan.HasProviders;

    /// <summary>The engine for the next stream. Ask again for each: it changes with the settings.</summary>
    public StreamEngine Engine => _current.Engine;

    /// <summary>The providers of the settings, in their order.</summary>
    public IReadOnlyList<ProviderState> Providers
    {
        get
        {
            var current = _current;
            return [.. current.Plan.Providers.Select((options, index) => new ProviderState(options, current.Pool?.Status(index)))];
        }
    }

    /// <summary>What each provider has been used for since the start, by its id, those included that the settings name no more.</summary>
    public IReadOnlyDictionary<Guid, ProviderUse> Uses => _accounts.Uses;

    /// <summary>Completes when a provider that was left alone can be used again. Ask again for the recovery after that.</summary>
    public Task NextRecovery => _accounts.NextRecovery;

    /// <summary>Connections that a lane may use as things are.</summary>
    public int Effective(OperationLane lane) => _accounts.Limiter.Effective(lane);

    /// <summary>Bytes received from providers since the start.</summary>
    public long BytesReceived => _accounts.BytesReceived;

    /// <summary>Where the segments came from that readers were served with, since the start.</summary>
    public ServedCounts Served => _streams.Served;

    /// <summary>Connections that owe a reply, and how many may at a time.</summary>
    public (int Used, int Allowed) Connections
    {
        get
        {
            var limiter = _accounts.Limiter;
            return (Enum.GetValues<OperationLane>().Sum(limiter.InUse), limiter.Capacity);
        }
    }

    /// <summary>What fetching does right now, for those who look on.</summary>
    public FetchingSnapshot Look()
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

    /// <summary>Asks a provider of the settings again, however it has failed before.</summary>
    /// <param name="provider">Its place among <see cref="Providers"/>.</param>
    public void Unblock(int provider)
    {
        if (_current.Pool is { } pool && provider < pool.ProviderCount)
            pool.Unblock(provider);
    }

    /// <summary>Tries all connections that a provider of the settings promises again, however few were found to be taken.</summary>
    /// <param name="provider">Its place among <see cref="Providers"/>.</param>
    public void ForgetCap(int provider)
    {
        if (_current.Pool is { } pool && provider < pool.ProviderCount)
            pool.ForgetCap(provider);
    }

    /// <summary>Begins the test of a login, saved or not; the caller disposes it.</summary>
    public AccountTest Test(ProviderOptions provider, INameResolver names) => _accounts.Test(provider, names, _current.Plan.Nntp);

    /// <summary>Closes the connections of all providers that owe nothing.</summary>
    public void CloseIdle() => _current.Pool?.CloseIdle();

    /// <inheritdoc/>
    public int ProviderCount => _current.ProviderCount;

    /// <inheritdoc/>
    public Guid ProviderId(int provider) => _current.ProviderId(provider);

    /// <summary>Forgets which providers do not have an article, so that all of them are asked for it.</summary>
    public void ForgetMisses(MessageId id)
    {
        var current = _current;
        for (var provider = 0; provider < current.ProviderCount; provider++)
            _memory.ForgetMissing(current.ProviderId(provider), id);
    }

    /// <inheritdoc/>
    public ProviderSet StoreOf(int provider) => _current.StoreOf(provider);

    /// <inheritdoc/>
    public void Distrust(object connection) => _current.Distrust(connection);

    /// <inheritdoc/>
    public ValueTask<ArticleReply> FetchAsync(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken) =>
        _current.FetchAsync(request, sink, cancellationToken);

    /// <inheritdoc/>
    public ValueTask StatAsync(StatRequest request, Memory<ArticlePresence> answers, CancellationToken cancellationToken) =>
        _current.StatAsync(request, answers, cancellationToken);

    /// <summary>Opens the disk cache, tries every provider now and after each change, and logs the outcome.</summary>
    public void Start()
    {
        lock (_lock)
        {
            _isStarted = true;
            var plan = Plan(out var warnings);
            _disk = _segments?.Open();
            // The values that an earlier run has learned about the providers have been loaded since the accounts were made.
            _accounts.Recall();
            Replace(plan);
            Announce(_current, warnings);
        }
    }

    /// <inheritdoc/>
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
        _background.Add(WatchAsync(ProviderTrial.RunAsync(pool, generation.Plan.Providers, _time, _logger, _ending.Token)));
    }

    /// <summary>Work that nothing waits for before the end says what broke it, and keeps no other part from ending.</summary>
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
