using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;

namespace Sluice.Tools.FullNzbTester.Engine;

/// <summary>
/// One engine from nothing: no connection open, nothing learned, nothing held. What is measured cold has a session of its own.
/// </summary>
internal sealed class EngineSession : IAsyncDisposable
{
    private static readonly TimeSpan SettlePoll = TimeSpan.FromMilliseconds(2);

    private readonly ProviderPool _pool;
    private readonly IReadOnlyList<ProviderOptions> _providers;
    private readonly EngineTotals _totals;
    private bool _disposed;

    public EngineSession(IReadOnlyList<ProviderOptions> providers, TesterOptions options, EngineTotals totals)
    {
        _totals = totals;
        _providers = providers;
        Limiter = new GlobalOperationLimiter();
        _pool = new ProviderPool(providers, new NntpOptions(), Limiter, TimeProvider.System, NullLoggerFactory.Instance);
        Source = new FetchLog(_pool);
        var streams = new StreamOptions { VerifyBeforeServe = options.VerifyBeforeServe };
        streams = streams with { ByteBudget = options.ByteBudget ?? streams.ByteBudget, ReadAhead = options.ReadAhead ?? streams.ReadAhead };
        Streams = new StreamEngine(Source, streams, TimeProvider.System, NullLoggerFactory.Instance);
        totals.Opened(this);
    }

    /// <summary>The permits.</summary>
    public GlobalOperationLimiter Limiter { get; }

    /// <summary>The providers.</summary>
    public FetchLog Source { get; }

    /// <summary>The streams.</summary>
    public StreamEngine Streams { get; }

    /// <summary>What the connections have done so far.</summary>
    public NntpCounters Counters => _pool.Counters;

    /// <summary>Name of the provider that delivered an article last, for a sentence.</summary>
    public string DelivererOf(MessageId id) => Source.DeliveredBy(id) is { } provider ? $"provider {_providers[provider].Name}" : "provider unknown";

    /// <summary>Waits until nothing is under way any more: what a disposed stream left behind has been read or closed.</summary>
    public async Task SettleAsync(CancellationToken cancellationToken)
    {
        while (Limiter.InUse(OperationLane.Playback) > 0)
            await Task.Delay(SettlePoll, TimeProvider.System, cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        if (_disposed)
            return;
        _disposed = true;
        await _pool.DisposeAsync();
        _totals.Closed(this);
    }
}
