using Sluice.Server.Diagnostics;
using Sluice.Server.Providers;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Playbacks;

/// <summary>CPU time of this process since its start, over all cores.</summary>
internal delegate TimeSpan ProcessorTime();

/// <summary>Activity of the server in one interval.</summary>
/// <param name="At">End of the interval, wall clock.</param>
/// <param name="FromProviders">Bytes per second from providers.</param>
/// <param name="ToPlayers">Bytes per second to clients.</param>
/// <param name="FromCache">Bytes per second served from memory or disk.</param>
/// <param name="Playbacks">Maximum concurrent playbacks.</param>
/// <param name="Used">Maximum connections with a reply pending.</param>
/// <param name="Allowed">Connection limit.</param>
/// <param name="Cached">Segments served from memory or disk.</param>
/// <param name="Fetched">Segments fetched from providers.</param>
internal readonly record struct ThroughputSample(
    DateTimeOffset At, long FromProviders, long ToPlayers, long FromCache, int Playbacks, int Used, int Allowed, long Cached, long Fetched);

internal enum SampleWindow
{
    /// <summary>Ten minutes, one sample a second.</summary>
    TenMinutes,

    /// <summary>An hour, one sample in ten seconds.</summary>
    Hour,

    /// <summary>A day, one sample in four minutes.</summary>
    Day,
}

/// <summary>Samples the counters once a second and keeps them in memory: 600 of 1 s, 360 of 10 s, 360 of 4 min.</summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the samples; nothing is called under it.</remarks>
internal sealed class ThroughputSampler(PlaybackRegistry playbacks, ProviderHost providers, ProcessorTime processor, TimeProvider time) : IWorker
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly SampleRing[] _rings = [new(600, 1), new(360, 10), new(360, 240)];
    private ThroughputSample _now;
    private double _processorPercent;

    public string Name => "throughput samples";

    public ThroughputSample Now
    {
        get
        {
            lock (_gate)
                return _now with { At = _now.At == default ? time.WallTime() : _now.At };
        }
    }

    /// <summary>CPU usage of this process in the last second, in percent of all cores.</summary>
    public double ProcessorPercent
    {
        get
        {
            lock (_gate)
                return _processorPercent;
        }
    }

    /// <summary>Share of the last ten minutes' segments served from memory or disk; null without segments.</summary>
    public double? CacheHitPercent
    {
        get
        {
            var samples = Samples(SampleWindow.TenMinutes);
            var (cached, all) = (samples.Sum(static sample => sample.Cached), samples.Sum(static sample => sample.Cached + sample.Fetched));
            return all == 0 ? null : 100.0 * cached / all;
        }
    }

    /// <summary>The samples of a window, oldest first.</summary>
    public IReadOnlyList<ThroughputSample> Samples(SampleWindow window)
    {
        lock (_gate)
            return _rings[(int)window].ToArray();
    }

    public async Task RunAsync(CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(Second, time);
        for (var before = Count(); await timer.WaitForNextTickAsync(stopping);)
        {
            var reading = playbacks.Tick();
            var now = Count();
            Add(before, now, reading);
            before = now;
        }
    }

    private Counts Count() => new(time.GetTimestamp(), providers.BytesReceived, playbacks.Totals.BytesSent, providers.Served, processor());

    private void Add(Counts before, Counts now, int reading)
    {
        var seconds = time.GetElapsedTime(before.At, now.At).TotalSeconds;
        if (seconds <= 0)
            return;
        var (used, allowed) = providers.Connections;
        var sample = new ThroughputSample(
            time.WallTime(),
            (long)((now.Received - before.Received) / seconds),
            (long)((now.Sent - before.Sent) / seconds),
            (long)((now.Served.CachedBytes - before.Served.CachedBytes) / seconds),
            reading,
            used,
            allowed,
            now.Served.Cached - before.Served.Cached,
            now.Served.Fetched - before.Served.Fetched);
        lock (_gate)
        {
            _now = sample;
            _processorPercent = Math.Min(100, (now.Processor - before.Processor).TotalSeconds / seconds / Environment.ProcessorCount * 100);
            foreach (var ring in _rings)
                ring.Add(sample);
        }
    }

    private readonly record struct Counts(long At, long Received, long Sent, ServedCounts Served, TimeSpan Processor);

    /// <summary>Ring of the latest samples, each merged from a fixed number of seconds. Its owner's lock guards it.</summary>
    private sealed class SampleRing(int most, int merged)
    {
        private readonly Queue<ThroughputSample> _samples = new(most);
        private ThroughputSample _sum;
        private int _count;

        public ThroughputSample[] ToArray() => [.. _samples];

        public void Add(in ThroughputSample sample)
        {
            _sum = new ThroughputSample(
                sample.At,
                _sum.FromProviders + sample.FromProviders,
                _sum.ToPlayers + sample.ToPlayers,
                _sum.FromCache + sample.FromCache,
                Math.Max(_sum.Playbacks, sample.Playbacks),
                Math.Max(_sum.Used, sample.Used),
                sample.Allowed,
                _sum.Cached + sample.Cached,
                _sum.Fetched + sample.Fetched);
            if (++_count < merged)
                return;
            if (_samples.Count == most)
                _samples.Dequeue();
            _samples.Enqueue(_sum with { FromProviders = _sum.FromProviders / merged, ToPlayers = _sum.ToPlayers / merged, FromCache = _sum.FromCache / merged });
            (_sum, _count) = (default, 0);
        }
    }
}
