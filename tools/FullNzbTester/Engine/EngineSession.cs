using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Sessions;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;

namespace Sluice.Tools.FullNzbTester.Engine;

/// <summary>A fresh engine without connections, measurements or buffered data. Each cold measurement uses its own session.</summary>
internal sealed class EngineSession : IContentSession
{
    private static readonly TimeSpan SettlePoll = TimeSpan.FromMilliseconds(2);

    private readonly ProviderPool _pool;
    private readonly IReadOnlyList<ProviderOptions> _providers;
    private readonly NntpListener _listener;
    private readonly NntpCounters _start;
    private readonly PredictedVolumes _predicted;

    /// <param name="listener">Counters of all sessions of the run. Only one session is open at a time.</param>
    public EngineSession(IReadOnlyList<ProviderOptions> providers, TesterOptions options, IReadOnlyList<TestedFile> files, NntpListener listener, TimeProvider time)
    {
        Files = files;
        (_providers, _listener, _start) = (providers, listener, listener.Now);
        Limiter = new GlobalOperationLimiter(time: time);
        _pool = new ProviderPool(providers, new NntpOptions(), Limiter, time, NullLoggerFactory.Instance);
        listener.Listen(_pool.Meter);
        Source = new FetchLog(_pool);

        _predicted = new PredictedVolumes(Source, new NoOwner(), time);
        var streams = new StreamOptions { VerifyBeforeServe = options.VerifyBeforeServe };
        streams = streams with { ByteBudget = options.ByteBudget ?? streams.ByteBudget, ReadAhead = options.ReadAhead ?? streams.ReadAhead };
        Streams = new StreamEngine(Source, streams, time, NullLoggerFactory.Instance);
    }

    public IReadOnlyList<TestedFile> Files { get; }

    public bool IsInProcess => true;

    public GlobalOperationLimiter Limiter { get; }

    public FetchLog Source { get; }

    public StreamEngine Streams { get; }

    public IContentStream Open(TestedFile file, long position, long? end) =>
        new EngineContentStream(Streams.Open(WithProofs(file), file.Cipher, file.Length, OperationLane.Playback, position, end));

    /// <summary>Returns the slices of a file, with the proofs of predicted volumes.</summary>
    private IReadOnlyList<FileExtent> WithProofs(TestedFile file)
    {
        if (file.Predicted.Count == 0)
            return file.Extents;
        var proofs = new Dictionary<object, IExtentProof>(ReferenceEqualityComparer.Instance);
        foreach (var set in file.Predicted)
        {
            var ofSet = _predicted.For(set, set);
            for (var i = 0; i < set.Count; i++)
                proofs[set[i].File] = ofSet[i];
        }

        return [.. file.Extents.Select(extent => extent with { Proof = proofs.GetValueOrDefault(extent.File) })];
    }

    public ValueTask<LineCounts> CountsAsync(CancellationToken cancellationToken) =>
        ValueTask.FromResult(LineCounts.Of(_listener.Now).Since(LineCounts.Of(_start)));

    public ValueTask<long> UnderWayAsync(CancellationToken cancellationToken) => ValueTask.FromResult<long>(Limiter.InUse(OperationLane.Playback));

    public string DelivererOf(TestedFile file, int segment) =>
        Source.DeliveredBy(file.Articles[segment].Id) is { } provider ? $"provider {_providers[provider].Name}" : "provider unknown";

    /// <summary>
    /// Explains an aborted read. The engine names the missing article: the read must end there or before the withheld bytes of the landing segment.
    /// </summary>
    public ValueTask<HoleSighting?> ExplainAsync(IOException error, TestedFile file, Segment landing, long landed, long position, CancellationToken cancellationToken)
    {
        var here = file.Map.Locate(Math.Min(position + file.LostBeforeHole, file.Length - 1));
        HoleSighting? sighting = error switch
        {
            WithdrawnBytesException when here.Index == landing.Index => new(here.Index, IsExact: true),
            ArticleGoneException gone => new(file.FindArticle(here.Index, gone.Segment), IsAt(gone)),
            _ => null,
        };
        return ValueTask.FromResult(sighting);

        bool IsAt(ArticleGoneException gone)
        {
            if (gone.Segment != file.Articles[here.Index].Place)
                return false;
            var isBefore = position <= here.Begin && position + file.LostBeforeHole >= here.Begin;
            return isBefore || (here.Index == landing.Index && (position == landed || gone.Loss == ArticleLoss.Corrupt));
        }
    }

    public void Note(MetricSheet metrics)
    {
        var now = _listener.Now;
        var (waited, fetched) = (now.Waited - _start.Waited, now.Fetched - _start.Fetched);
        metrics["wait_connection_ms"] = waited.TotalMilliseconds;
        metrics["wait_connection_share"] = fetched > TimeSpan.Zero ? waited / fetched : null;
        metrics["hedges"] = now.Hedges - _start.Hedges;
        metrics["hedges_won"] = now.HedgesWon - _start.HedgesWon;
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
        await Streams.DisposeAsync();
        await _pool.DisposeAsync();
    }

    /// <summary>Discards predictions. A mispredicted set fails the read, but the sets of the mock are as predicted.</summary>
    private sealed class NoOwner : IPredictionOwner
    {
        public void OnProved(object key, IReadOnlyList<PredictedVolume> volumes)
        {
        }

        public void OnRefuted(object key)
        {
        }

        public void OnSought(object key)
        {
        }
    }
}

internal sealed class EngineContentStream(ReadOnlyStream stream) : IContentStream
{
    public ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken) => stream.ReadAsync(buffer, cancellationToken);

    public void Seek(long position) => stream.Position = position;

    public ValueTask DisposeAsync() => stream.DisposeAsync();
}
