using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Sessions;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Reading;

namespace Sluice.Tools.FullNzbTester.Engine;

/// <summary>
/// One engine from nothing: no connection open, nothing learned, nothing held. A cold measurement has a session of its own.
/// </summary>
internal sealed class EngineSession : IContentSession
{
    private static readonly TimeSpan SettlePoll = TimeSpan.FromMilliseconds(2);

    private readonly ProviderPool _pool;
    private readonly IReadOnlyList<ProviderOptions> _providers;
    private readonly EngineTotals _totals;
    private readonly NntpListener _listener;
    private bool _disposed;

    public EngineSession(IReadOnlyList<ProviderOptions> providers, TesterOptions options, IReadOnlyList<TestedFile> files, EngineTotals totals)
    {
        Files = files;
        _totals = totals;
        _providers = providers;
        Limiter = new GlobalOperationLimiter();
        _pool = new ProviderPool(providers, new NntpOptions(), Limiter, TimeProvider.System, NullLoggerFactory.Instance);
        _listener = new NntpListener(_pool.Meter);
        Source = new FetchLog(_pool);
        var streams = new StreamOptions { VerifyBeforeServe = options.VerifyBeforeServe };
        streams = streams with { ByteBudget = options.ByteBudget ?? streams.ByteBudget, ReadAhead = options.ReadAhead ?? streams.ReadAhead };
        Streams = new StreamEngine(Source, streams, TimeProvider.System, NullLoggerFactory.Instance);
        totals.Opened(this);
    }

    public IReadOnlyList<TestedFile> Files { get; }

    public bool IsInProcess => true;

    /// <summary>The permits.</summary>
    public GlobalOperationLimiter Limiter { get; }

    /// <summary>The providers.</summary>
    public FetchLog Source { get; }

    /// <summary>The streams.</summary>
    public StreamEngine Streams { get; }

    /// <summary>What the connections have done so far.</summary>
    public NntpCounters Counters => _listener.Now;

    public IContentStream Open(TestedFile file, long position, long? end) =>
        new EngineContentStream(Streams.Open([FileExtent.Whole(file.Posted)], OperationLane.Playback, position, end));

    public ValueTask<LineCounts> CountsAsync(CancellationToken cancellationToken) => ValueTask.FromResult(LineCounts.Of(Counters));

    public ValueTask<long> UnderWayAsync(CancellationToken cancellationToken) => ValueTask.FromResult<long>(Limiter.InUse(OperationLane.Playback));

    public string DelivererOf(TestedFile file, int segment) =>
        Source.DeliveredBy(file.Ids[segment]) is { } provider ? $"provider {_providers[provider].Name}" : "provider unknown";

    /// <summary>The engine says which article is gone, so the end must be exactly there, or in front of the withheld end of the landing segment.</summary>
    public ValueTask<HoleSighting?> ExplainAsync(IOException error, TestedFile file, Segment landing, long landed, long position, CancellationToken cancellationToken)
    {
        var here = file.Map.Locate(Math.Min(position, file.Length - 1));
        HoleSighting? sighting = error switch
        {
            WithdrawnBytesException when here.Index == landing.Index => new(here.Index, IsExact: true),
            ArticleGoneException gone => new(gone.Segment, gone.Segment == here.Index
                && (position == here.Begin || (here.Index == landing.Index && (position == landed || gone.Loss == ArticleLoss.Corrupt)))),
            _ => null,
        };
        return ValueTask.FromResult(sighting);
    }

    public void Note(MetricSheet metrics)
    {
        var counters = Counters;
        metrics["wait_connection_ms"] = counters.Waited.TotalMilliseconds;
        metrics["wait_connection_share"] = counters.Fetched > TimeSpan.Zero ? counters.Waited / counters.Fetched : null;
        metrics["hedges"] = counters.Hedges;
        metrics["hedges_won"] = counters.HedgesWon;
        metrics["permits_effective"] = Limiter.Effective(OperationLane.Playback);
        metrics["permits_peak"] = Limiter.Peak(OperationLane.Playback);
    }

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
        await Streams.DisposeAsync();
        await _pool.DisposeAsync();
        _totals.Closed(this);
        _listener.Dispose();
    }
}

/// <summary>A stream of the engine.</summary>
internal sealed class EngineContentStream(ReadOnlyStream stream) : IContentStream
{
    public ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken) => stream.ReadAsync(buffer, cancellationToken);

    public void Seek(long position) => stream.Position = position;

    public ValueTask DisposeAsync() => stream.DisposeAsync();
}
