using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>State shared by the connections of one provider. Thread-safe, because settings are replaced as a whole.</summary>
internal sealed class ProviderState : IDisposable
{
    private readonly Lock _lock = new();
    private readonly ulong _seed;
    private MockSettings _shared;
    private volatile MockProvider _settings;
    private volatile FaultPlan _plan;
    private CancellationTokenSource _changed = new();

    public ProviderState(int index, MockProvider settings, ulong seed, MockSettings shared, ArticleStore store, MockClock clock, MockStats total, SocketCensus census)
    {
        Index = index;
        _settings = settings;
        _seed = seed;
        _shared = shared;
        Store = store;
        Clock = clock;
        Stats = new MockStats(total);
        Census = census;
        Bucket = new TokenBucket(clock);
        _plan = MakePlan(null);
    }

    public int Index { get; }

    public ArticleStore Store { get; }

    public MockClock Clock { get; }

    public MockStats Stats { get; }

    public SocketCensus Census { get; }

    public TokenBucket Bucket { get; }

    public MockProvider Settings => _settings;

    public FaultPlan Plan => _plan;

    public CancellationToken Changed
    {
        get
        {
            lock (_lock)
                return _changed.Token;
        }
    }

    /// <summary>Replaces the settings. Responses that have begun keep the previous ones.</summary>
    public void Change(Func<MockProvider, MockProvider> change, MockSettings shared)
    {
        CancellationTokenSource former;
        lock (_lock)
        {
            _shared = shared;
            _settings = change(_settings);
            _plan = MakePlan(_plan);
            former = _changed;
            _changed = new CancellationTokenSource();
        }

        former.Cancel();
        former.Dispose();
    }

    /// <summary>Returns the round trip of a response, including jitter.</summary>
    public TimeSpan RoundTrip(int connection, int command)
    {
        var settings = _settings;
        if (settings.Jitter == TimeSpan.Zero)
            return settings.Latency;
        var roll = Placement.Roll(_seed, Index, (ulong)connection, Placement.JitterSalt, command);
        var trip = settings.Latency + (settings.Jitter * ((2 * roll) - 1));
        return trip > TimeSpan.Zero ? trip : TimeSpan.Zero;
    }

    /// <summary>Whether the provider holds an article: a pure function of seed, provider and article, so that runs are repeatable.</summary>
    public bool Holds(ArticleReference article) =>
        _settings.Coverage >= 1 || Placement.Roll(_seed, Index, article.Hash, Placement.CoverageSalt, 0) < _settings.Coverage;

    /// <summary>Returns 64 bits that choose the damage of an article, the same on every provider.</summary>
    public ulong DamageBits(ArticleReference article) => Placement.Bits(_seed, 0, article.Hash, Placement.DamageSalt, 0);

    /// <summary>Returns the matching fault and counts it; null for none.</summary>
    public MockFault? Hit(FaultStage stage, int connection, Command? command = null, ArticleReference? article = null)
    {
        var point = new FaultPoint(Index, connection, Clock.SinceStart) { Verb = command?.Verb, Article = article, Try = command?.Try ?? 1 };
        return _plan.Hit(stage, point);
    }

    /// <summary>Returns the active fault of a kind for a connection, without counting it; null for none.</summary>
    public MockFault? Regime(FaultKind kind, int connection) => _plan.Regime(kind, new FaultPoint(Index, connection, Clock.SinceStart) { Try = 1 });

    /// <summary>Current connection limit; 0 for none.</summary>
    public int Cap(int connection) => Regime(FaultKind.PolicyCap, connection) is { } shrunk ? shrunk.Limit ?? 1 : Settings.MaxConnections;

    public void Dispose() => _changed.Dispose();

    private FaultPlan MakePlan(FaultPlan? former)
    {
        MockFault[] simple =
        [
            new() { Kind = FaultKind.Missing, Articles = _shared.Missing, Everywhere = true },
            new() { Kind = FaultKind.Missing, Articles = _settings.Missing },
            new() { Kind = FaultKind.Corrupt, Articles = _shared.Corrupt, Everywhere = true },
            new() { Kind = FaultKind.Corrupt, Articles = _settings.Corrupt },
            new() { Kind = FaultKind.BodyStall, Rate = _settings.Stall, Duration = _settings.StallTime },
        ];
        return new FaultPlan(_seed, [.. simple.Where(fault => (fault.Articles?.Rate ?? 1) * fault.Rate > 0), .. _settings.Faults, .. _shared.Faults], former);
    }
}

/// <summary>Settings shared by all providers that may change while running.</summary>
internal sealed record MockSettings(ArticleSelection Missing, ArticleSelection Corrupt, IReadOnlyList<MockFault> Faults);
