using System.Data.Common;
using Sluice.Server.Arr;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Library;
using Sluice.Server.Playbacks;
using Sluice.Server.Providers;
using Sluice.Server.Queue;

namespace Sluice.Server.AdminApi;

/// <summary>The overview as the API shows it.</summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the counts of the database, read every ten seconds at most.</remarks>
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
    private static readonly TimeSpan CountInterval = TimeSpan.FromSeconds(10);

    private readonly Lock _gate = new();
    private (long Queue, long Releases) _counts;
    private long? _countedAt;

    public StatSample Now => Sample(sampler.Now);

    public IReadOnlyList<AttentionRow> Attention => attention.Collect();

    public FirstSteps Steps => new(
        providers.HasProviders, evening.Has(FirstStep.Played), arr.All.Count > 0 || evening.Has(FirstStep.Called));

    public async Task<Stats> ShowAsync(SampleWindow window, long seq, CancellationToken cancellationToken)
    {
        return new Stats(Now, await FiguresAsync(cancellationToken), window, [.. sampler.Samples(window).Select(Sample)], Attention, Steps, seq);
    }

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
            if (_countedAt is { } at && time.GetElapsedTime(at) < CountInterval)
                return _counts;
        }

        (long, long) counts;
        try
        {
            counts = await database.ReadAsync(static connection => ((long)QueueStore.Count(connection), LibraryStore.Count(connection)), cancellationToken);
        }
        catch (DbException)
        {
            // In safe mode the last counts remain; the overview shows the mode.
            lock (_gate)
                return _counts;
        }

        lock (_gate)
            (_counts, _countedAt) = (counts, time.GetTimestamp());
        return counts;
    }
}
