using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Control;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Tools.MockNntpServer.Wire;

namespace Sluice.Tools.MockNntpServer;

/// <summary>
/// An NNTP server with generated articles and one listener per provider. It runs from <see cref="StartAsync"/> until disposed. Thread-safe;
/// the caller that started it disposes it.
/// </summary>
public sealed class MockServer : IAsyncDisposable
{
    private readonly Lock _lock = new();
    private readonly ArticleStore _store;
    private readonly ProviderState[] _states;
    private readonly ProviderListener[] _listeners;
    private readonly MockCertificates? _certificates;
    private readonly ControlListener? _control;
    private readonly Func<ulong, MockRelease>? _release;
    private MockSettings _shared;

    private MockServer(MockOptions options)
    {
        var clock = new MockClock(options.Time);
        _release = options.Release;
        _shared = new MockSettings(options.Missing, options.Corrupt, options.Faults);
        _store = new ArticleStore(options.Media, options.Spool, options.CacheBytes);
        foreach (var release in options.Releases)
            _store.Post(release);
        _certificates = options.Providers.Any(provider => provider.Tls != MockTls.None) ? new MockCertificates() : null;
        Stats = new MockStats(null);
        var census = new SocketCensus(Stats);
        _states = [.. options.Providers.Select((provider, i) => new ProviderState(i, provider, options.Seed, _shared, _store, clock, Stats, census))];
        _listeners = [.. _states.Select(state => new ProviderListener(state, options.Bind, Secure(state.Settings.Tls)))];
        _control = options.ControlPort is { } port ? new ControlListener(this, port) : null;
    }

    public int Port => Ports[0];

    public IReadOnlyList<int> Ports => [.. _listeners.Select(listener => listener.EndPoint.Port)];

    /// <summary>HTTP control port; null if there is none.</summary>
    public int? ControlPort => _control?.EndPoint.Port;

    /// <summary>Counters of all providers together. Peaks apply to the sum.</summary>
    public MockStats Stats { get; }

    public IReadOnlyList<MockStats> ProviderStats => [.. _states.Select(state => state.Stats)];

    /// <summary>For each provider, whether the system holds connections that are not accepted yet and therefore not counted.</summary>
    internal IReadOnlyList<bool> HaveUnaccepted => [.. _listeners.Select(listener => listener.HasUnaccepted)];

    public IReadOnlyList<MockProvider> Providers => [.. _states.Select(state => state.Settings)];

    /// <summary>The authority that signs the mock's certificates, in PEM; null without TLS.</summary>
    public string? AuthorityPem => _certificates?.AuthorityPem;

    public static Task<MockServer> StartAsync(MockOptions? options = null) => Task.FromResult(new MockServer(options ?? new MockOptions()));

    /// <summary>Replaces the settings of a provider while running. Port and certificate cannot change.</summary>
    public void Change(int provider, Func<MockProvider, MockProvider> change)
    {
        lock (_lock)
            _states[provider].Change(change, _shared);
    }

    /// <summary>Replaces the faults of <see cref="MockOptions.Faults"/>.</summary>
    public void ChangeFaults(IReadOnlyList<MockFault> faults) => ChangeShared(shared => shared with { Faults = faults });

    /// <summary>Replaces the articles missing on all providers.</summary>
    public void ChangeMissing(ArticleSelection missing) => ChangeShared(shared => shared with { Missing = missing });

    /// <summary>Replaces the articles corrupt on all providers.</summary>
    public void ChangeCorrupt(ArticleSelection corrupt) => ChangeShared(shared => shared with { Corrupt = corrupt });

    /// <summary>Resets all counters, including article attempts and fault hits. Open connections stay.</summary>
    public void Reset()
    {
        Stats.Reset();
        foreach (var state in _states)
        {
            state.Stats.Reset();
            state.Plan.Reset();
        }
    }

    /// <summary>Adds a release whose content the mock must know. It replaces an earlier one with the same seed.</summary>
    public void Post(MockRelease release) => _store.Post(release);

    /// <summary>Closes every connection, as a provider does after a long idle time, and waits until they have ended.</summary>
    public Task DropConnectionsAsync() => Task.WhenAll(_listeners.Select(listener => listener.DropConnectionsAsync()));

    /// <summary>
    /// Prepares a measurement: drops all encoded articles, and pre-encodes a release that fits into the cache, so that encoding is not measured.
    /// </summary>
    /// <returns>The NZB of the release, whose sizes come from the same pass.</returns>
    public async Task<byte[]> PrepareAsync(MockRelease release, CancellationToken cancellationToken)
    {
        _store.Clear();
        if (!_store.HasRoomFor(release))
            return release.ToNzb();
        var measured = release.MeasuredBy(_store.Measure);
        var nzb = measured.ToNzb();
        await PreloadAsync(measured, cancellationToken);
        return nzb;
    }

    /// <summary>Number of cached encoded articles.</summary>
    internal int EncodedArticles => _store.Cached;

    /// <summary>Creates the release of a seed for the control port; null if not supported.</summary>
    internal MockRelease? ReleaseOf(ulong seed) => _release?.Invoke(seed);

    /// <summary>Pre-encodes the articles of a release, up to the cache size.</summary>
    public Task PreloadAsync(MockRelease release, CancellationToken cancellationToken) => Parallel.ForEachAsync(
        Enumerable.Range(0, release.Files.Count).SelectMany(release.MessageIds),
        cancellationToken,
        (id, _) =>
        {
            if (_store.Find(id) is { } article)
                _store.Get(article);
            return ValueTask.CompletedTask;
        });

    public async ValueTask DisposeAsync()
    {
        if (_control is not null)
            await _control.DisposeAsync();
        await Task.WhenAll(_listeners.Select(listener => listener.DisposeAsync().AsTask()));
        Array.ForEach(_states, state => state.Dispose());
        _certificates?.Dispose();
    }

    private void ChangeShared(Func<MockSettings, MockSettings> change)
    {
        lock (_lock)
        {
            _shared = change(_shared);
            foreach (var state in _states)
                state.Change(settings => settings, _shared);
        }
    }

    private Handshake? Secure(MockTls tls) => tls == MockTls.None || _certificates is null ? null : new Handshake(_certificates, tls);
}
