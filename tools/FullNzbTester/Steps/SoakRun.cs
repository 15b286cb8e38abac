using System.Diagnostics;
using System.Globalization;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Sessions;
using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>
/// Runs many readers for a long time that seek, cancel and resume, while the mock damages one response in a hundred per kind of body or
/// yEnc fault. Reads may end early, but no byte may be wrong, no fetch may be left, and memory must not grow.
/// </summary>
internal sealed class SoakRun(RunContext run)
{
    /// <summary>Allowed memory growth in ten minutes, in MiB: 1 MB.</summary>
    private const double MostGrowth = 1e6 / (1 << 20);

    /// <summary>Minimum bytes of a reader, as a share of the average of all readers.</summary>
    private const double LeastShare = 0.5;

    private const double FaultRate = 0.01;
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestRamp = TimeSpan.FromMinutes(3);

    // A slope over a shorter time measures the garbage collector rather than a leak.
    private static readonly TimeSpan ShortestSlope = TimeSpan.FromMinutes(10);

    // In a shorter run, one read that waits a second for a fault takes a large part of its reader's share.
    private static readonly TimeSpan ShortestFairness = TimeSpan.FromMinutes(1);

    public async Task RunAsync(SoakFlags flags, CancellationToken cancellationToken)
    {
        run.Narrator.Say($"[+] Soak: {flags.Readers} readers for {flags.Duration.TotalMinutes:0.#} min");
        await using var session = await run.OpenSessionAsync(SessionUse.Soak, cancellationToken);
        if (run.Mock is not null)
            await run.Mock.SetFaultsAsync(Script(), cancellationToken);

        var readers = Enumerable.Range(0, flags.Readers).Select(index => new SoakReader(run, session, index, flags.BytesPerSecond)).ToList();
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        ending.CancelAfter(flags.Duration);
        var trend = new Trend();
        var parts = new List<ProcessParts>();
        var watching = WatchAsync(trend, parts, flags.Duration, ending.Token);
        await Task.WhenAll(readers.Select(reader => reader.RunAsync(ending.Token)));
        await watching;
        cancellationToken.ThrowIfCancellationRequested();

        if (run.Mock is not null)
            await run.Mock.SetFaultsAsync("", cancellationToken);
        var left = await Leftovers.CountAsync(session, run.Findings, cancellationToken);
        Note(readers, flags.Duration, trend, left);
        NoteParts(parts);
    }

    /// <summary>Returns a fault script with one line for each kind of the two groups.</summary>
    private static string Script() => string.Join('\n', FaultNames.Scriptable
        .Select(FaultNames.Of)
        .Where(kind => kind.StartsWith("body.", StringComparison.Ordinal) || kind.StartsWith("yenc.", StringComparison.Ordinal))
        .Select(kind => string.Create(CultureInfo.InvariantCulture, $$"""{"kind":"{{kind}}","rate":{{FaultRate}}{{(kind == "body.stall" ? ",\"ms\":10000" : "")}}}""")));

    private async Task WatchAsync(Trend trend, List<ProcessParts> parts, TimeSpan duration, CancellationToken ending)
    {
        var started = Stopwatch.GetTimestamp();
        var ramp = duration / 3 < LongestRamp ? duration / 3 : LongestRamp;
        using var timer = new PeriodicTimer(Interval, TimeProvider.System);
        try
        {
            while (await timer.WaitForNextTickAsync(ending))
            {
                var at = Stopwatch.GetElapsedTime(started);
                if (at < ramp)
                    continue;
                if (run.Memory.Now is { } now)
                    trend.Add(at.TotalMinutes, now);
                if (ProcessParts.Of(run.Options.Server?.Pid) is { } held)
                    parts.Add(held);
            }
        }
        catch (OperationCanceledException) when (ending.IsCancellationRequested)
        {
            // The soak time is over.
        }
    }

    /// <summary>Checks that threads, handles and sockets do not grow under a constant load.</summary>
    private void NoteParts(List<ProcessParts> parts)
    {
        if (ProcessParts.Growth(parts) is not { } grown)
            return;
        run.Metrics["soak.threads_added"] = grown.Threads;
        run.Metrics["soak.handles_added"] = grown.Handles;
        run.Metrics["soak.sockets_added"] = grown.Sockets;
        run.Narrator.Say($"    {parts[^1].Threads} threads ({grown.Threads:+0;-0;0}), {parts[^1].Handles} handles ({grown.Handles:+0;-0;0}), {parts[^1].Sockets} of them sockets ({grown.Sockets:+0;-0;0})");
    }

    private void Note(List<SoakReader> readers, TimeSpan duration, Trend trend, long left)
    {
        var metrics = run.Metrics;
        var (whole, given, broken) = (readers.Sum(reader => reader.Whole), readers.Sum(reader => reader.GivenUp), readers.Sum(reader => reader.Broken));
        var growth = trend.Slope * 10;
        metrics["soak.reads_whole"] = whole;
        metrics["soak.reads_given_up"] = given;
        metrics["soak.reads_broken"] = broken;
        metrics["soak.reads_refused"] = readers.Sum(reader => reader.Refused);
        metrics["soak.bytes"] = readers.Sum(reader => reader.Bytes);

        // All readers read at one rate, so a reader with fewer bytes was kept waiting.
        var share = readers.Min(reader => reader.Bytes) / Math.Max(1, readers.Average(reader => (double)reader.Bytes));
        metrics["soak.least_share"] = share;
        metrics["soak.slowest_read_ms"] = readers.Max(reader => reader.SlowestRead.TotalMilliseconds);
        metrics["soak.rss_mib_per_10_min"] = growth;
        metrics["soak.left"] = left;
        run.Narrator.Say($"    {whole} reads whole, {given} given up, {broken} ended by the server's side, {metrics["soak.bytes"]:n0} bytes, the least reader {share:0.00} of a fair share; slowest read {metrics["soak.slowest_read_ms"]:0} ms; memory {growth:+0.00;-0.00} MiB per 10 min; {left} left under way");

        if (whole == 0)
            run.Findings.Fail($"none of {broken} reads came to its end");
        if (share < LeastShare && duration >= ShortestFairness)
            run.Findings.Fail($"one reader got {share:0.00} of its fair share");
        if (growth > MostGrowth && trend.Minutes >= ShortestSlope.TotalMinutes)
            run.Findings.Fail($"memory grows by {growth:0.00} MiB per 10 min");
    }
}

/// <summary>A figure over time and its linear trend (least squares).</summary>
internal sealed class Trend
{
    private readonly List<(double Minute, double Value)> _points = [];

    /// <summary>Minutes between the first and last value.</summary>
    public double Minutes => _points.Count == 0 ? 0 : _points[^1].Minute - _points[0].Minute;

    /// <summary>Change per minute; null for fewer than two values.</summary>
    public double? Slope
    {
        get
        {
            if (_points.Count < 2)
                return null;
            var (time, value) = (_points.Average(point => point.Minute), _points.Average(point => point.Value));
            var spread = _points.Sum(point => (point.Minute - time) * (point.Minute - time));
            return spread > 0 ? _points.Sum(point => (point.Minute - time) * (point.Value - value)) / spread : null;
        }
    }

    public void Add(double minute, double value) => _points.Add((minute, value));
}
