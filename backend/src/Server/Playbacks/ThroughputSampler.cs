using Sluice.Server.Diagnostics;
using Sluice.Server.Providers;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Playbacks;

/// <summary>Returns the CPU time of this process since its start, summed over all cores.</summary>
internal delegate TimeSpan ProcessorTime();

/// <summary>Activity of the server during one interval.</summary>
/// <param name="At">End of the interval in wall-clock time.</param>
/// <param name="FromProviders">Bytes per second from providers.</param>
/// <param name="ToPlayers">Bytes per second to clients.</param>
/// <param name="FromCache">Bytes per second served from memory or disk.</param>
/// <param name="Playbacks">Maximum concurrent playbacks.</param>
/// <param name="Used">Maximum connections that waited for a reply.</param>
/// <param name="Allowed">The connection limit.</param>
/// <param name="Cached">Segments served from memory or disk.</param>
/// <param name="Fetched">Segments fetched from providers.</param>
internal readonly record struct ThroughputSample(
    DateTimeOffset At, long FromProviders, long ToPlayers, long FromCache, int Playbacks, int Used, int Allowed, long Cached, long Fetched);

/// <summary>Samples the counters once a second: 600 of 1 s, 360 of 10 s, and the traffic of each minute until <see cref="RateStore"/> takes it.</summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the samples and is never held across a call.</remarks>
internal sealed class ThroughputSampler(PlaybackRegistry playbacks, ProviderHost providers, ProcessorTime processor, TimeProvider time) : IWorker
{
    private const int MostMinutes = 1440;
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly SampleRing _seconds = new(600, 1);
    private readonly SampleRing _tens = new(360, 10);
    private Dictionary<long, Moved> _minutes = [];
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

    /// <summary>Percentage of the last ten minutes' segments that memory or disk served; null without segments.</summary>
    public double? CacheHitPercent
    {
        get
        {
            ThroughputSample[] samples;
            lock (_gate)
                samples = _seconds.ToArray();
            var (cached, all) = (samples.Sum(static sample => sample.Cached), samples.Sum(static sample => sample.Cached + sample.Fetched));
            return all == 0 ? null : 100.0 * cached / all;
        }
    }

    /// <summary>
    /// Returns recent traffic, oldest first, each entry with its first second since 1970. Entries cover 1 s for a window of ten minutes, otherwise 10 s.
    /// </summary>
    public IReadOnlyList<(long From, int Seconds, Moved Moved)> Recent(RateWindow window)
    {
        lock (_gate)
        {
            var ring = window.Seconds <= _seconds.TotalSeconds ? _seconds : _tens;
            return
            [
                .. ring.ToArray().Select(sample => (
                    sample.At.ToUnixTimeSeconds() - ring.Merged,
                    ring.Merged,
                    new Moved(
                        sample.FromProviders * ring.Merged, sample.ToPlayers * ring.Merged, sample.FromCache * ring.Merged, sample.Playbacks, sample.Used))),
            ];
        }
    }

    /// <summary>Returns and forgets the traffic since the last call, by minutes since 1970. Minutes without traffic are absent.</summary>
    public IReadOnlyDictionary<long, Moved> TakeMinutes()
    {
        lock (_gate)
        {
            var minutes = _minutes;
            _minutes = [];
            return minutes;
        }
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
            _seconds.Add(sample);
            _tens.Add(sample);
            var moved = new Moved(now.Received - before.Received, now.Sent - before.Sent, now.Served.CachedBytes - before.Served.CachedBytes, reading, used);
            if (moved.IsNothing)
                return;
            var minute = sample.At.ToUnixTimeSeconds() / 60;
            _minutes[minute] = _minutes.GetValueOrDefault(minute).With(moved);
            // Drop the oldest minute, because without a database nothing takes them.
            if (_minutes.Count > MostMinutes)
                _minutes.Remove(_minutes.Keys.Min());
        }
    }

    private readonly record struct Counts(long At, long Received, long Sent, ServedCounts Served, TimeSpan Processor);

    /// <summary>A ring of the latest samples, each merged from a fixed number of seconds. Guarded by its owner's lock.</summary>
    private sealed class SampleRing(int most, int merged)
    {
        private readonly Queue<ThroughputSample> _samples = new(most);
        private ThroughputSample _sum;
        private int _count;

        public int Merged => merged;

        public int TotalSeconds => most * merged;

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
