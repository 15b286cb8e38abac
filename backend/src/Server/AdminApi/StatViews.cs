using System.Data.Common;
using Sluice.Server.Arr;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Playbacks;
using Sluice.Server.Providers;
using Sluice.Server.Queue;

namespace Sluice.Server.AdminApi;

/// <summary>What the overview shows, as the API gives it.</summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the counts of the database, which are asked for every ten seconds at most.</remarks>
internal sealed class StatViews(
    ThroughputSampler sampler,
    PlaybackRegistry playbacks,
    BandwidthLimit bandwidth,
    ProviderHost providers,
    ArrStore arr,
    FirstUse evening,
    Attention attention,
    SluiceDatabase database,
    TimeProvider time)
{
    private static readonly TimeSpan Counted = TimeSpan.FromSeconds(10);

    private readonly Lock _gate = new();
    private (long Queue, long Releases) _counts;
    private long? _countedAt;

    /// <summary>The last second.</summary>
    public StatSample Now => Sample(sampler.Now);

    /// <summary>What is to be looked at, the worst first.</summary>
    public IReadOnlyList<AttentionRow> Attention => attention.Collect();

    /// <summary>How far the first evening has come.</summary>
    public FirstSteps Steps => new(
        providers.HasProviders, evening.Has(FirstStep.Played), arr.All.Count > 0 || evening.Has(FirstStep.Called));

    /// <summary>All of it.</summary>
    /// <param name="window">Over how long samples are shown.</param>
    /// <param name="seq">Events up to this number are in it.</param>
    /// <param name="cancellationToken">Gives up counting.</param>
    public async Task<Stats> ShowAsync(SampleWindow window, long seq, CancellationToken cancellationToken)
    {
        return new Stats(Now, await FiguresAsync(cancellationToken), window, [.. sampler.Samples(window).Select(Sample)], Attention, Steps, seq);
    }

    /// <summary>The last ten minutes.</summary>
    public async Task<StatFigures> FiguresAsync(CancellationToken cancellationToken)
    {
        var (queue, releases) = await CountAsync(cancellationToken);
        var firstBytes = playbacks.Totals.FirstBytes;
        return new StatFigures(
            sampler.CacheHitPercent, firstBytes?.P50, firstBytes?.P95, bandwidth.Current is > 0 and var limit ? limit : null, queue, releases);
    }

    private static StatSample Sample(ThroughputSample sample) => new(
        sample.At, sample.FromProviders, sample.ToPlayers, sample.FromCache, sample.Playbacks, sample.Used, sample.Allowed);

    private async Task<(long Queue, long Releases)> CountAsync(CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (_countedAt is { } at && time.GetElapsedTime(at) < Counted)
                return _counts;
        }

        (long, long) counts;
        try
        {
            counts = await database.ReadAsync(static connection => ((long)QueueStore.Count(connection), LibraryStore.Count(connection)), cancellationToken);
        }
        catch (DbException)
        {
            // Safe mode: the overview says so, and the last counts stand.
            lock (_gate)
                return _counts;
        }

        lock (_gate)
            (_counts, _countedAt) = (counts, time.GetTimestamp());
        return counts;
    }
}
