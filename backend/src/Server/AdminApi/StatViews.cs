using System.Data.Common;
using Sluice.Server.Arr;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Library;
using Sluice.Server.Playbacks;
using Sluice.Server.Providers;
using Sluice.Server.Queue;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.AdminApi;

/// <summary>The overview, as shown by the API.</summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the database counts, which are read at most every ten seconds.</remarks>
internal sealed class StatViews(
    ThroughputSampler sampler,
    RateStore rates,
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

    public async Task<Stats> ShowAsync(RateWindow window, int points, long seq, CancellationToken cancellationToken)
    {
        var columns = await rates.ReadAsync(window, points, cancellationToken);
        return new Stats(
            Now,
            await FiguresAsync(cancellationToken),
            window.Word,
            new StatColumns(
                DateTimeOffset.FromUnixTimeSeconds(columns.Start),
                columns.Step,
                columns.Rates(static moved => moved.Received),
                columns.Rates(static moved => moved.Sent),
                columns.Rates(static moved => moved.Cached),
                columns.Counts(static moved => moved.Streams),
                columns.Counts(static moved => moved.Connections)),
            Attention,
            Steps,
            seq);
    }

    public async Task<ProviderTraffic> ShowProvidersAsync(RateWindow window, int points, CancellationToken cancellationToken)
    {
        var shares = await rates.ReadProvidersAsync(window, points, cancellationToken);
        var frame = new RateColumns(window, points, time.WallTime());
        return new ProviderTraffic(
            DateTimeOffset.FromUnixTimeSeconds(frame.Start),
            frame.Step,
            [.. shares.Select(static share => new ProviderRates(share.Key.ToString("D"), share.Value.Rates(static moved => moved.Received))).OrderBy(static share => share.Id)]);
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
            // Return the last counts, because the database is not used in safe mode. The overview reports safe mode itself.
            lock (_gate)
                return _counts;
        }

        lock (_gate)
            (_counts, _countedAt) = (counts, time.GetTimestamp());
        return counts;
    }
}
