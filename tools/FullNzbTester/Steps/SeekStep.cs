using System.Globalization;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Sessions;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>Step 6: measures opens and seeks, cold and warm, on fresh streams and on an open one.</summary>
internal sealed class SeekStep(RunContext run)
{
    private const int SmallRead = 64 << 10;

    // As far from all seek points as possible.
    private const int WarmUpPercent = 62;

    private static readonly (int Percent, string Direction)[] Points =
    [
        (1, "forward"), (25, "forward"), (50, "forward"), (75, "forward"), (95, "forward"), (75, "backward"), (50, "backward"),
        (10, Ancestor), (50, Ancestor), (90, Ancestor), (20, Ancestor),
    ];

    private readonly Samples _cold = new();
    private readonly Samples _first = new();
    private readonly Samples _full = new();
    private readonly Samples _small = new();
    private readonly Samples _smallFirst = new();
    private readonly Samples _articles = new();

    /// <summary>Marks the points measured in the order of the ancestor tool.</summary>
    public const string Ancestor = "ancestor";

    public async Task<string?> RunAsync(CancellationToken cancellationToken)
    {
        foreach (var (percent, direction) in Points.Where(point => point.Direction == Ancestor))
            await ColdAsync(percent, direction, cancellationToken);
        await ColdOpenAsync(cancellationToken);
        await WithWarmAsync(FreshStreamsAsync, cancellationToken);
        await WithWarmAsync(OpenStreamAsync, cancellationToken);
        await WithWarmAsync(SmallReadsAsync, cancellationToken);
        Note();
        return null;
    }

    private async Task ColdAsync(int percent, string direction, CancellationToken cancellationToken)
    {
        await using var session = await run.OpenSessionAsync(SessionUse.Seeks, cancellationToken);
        var file = ReleaseImport.Pick(session.Files);
        var timing = await new SeekProbe(run, session).FreshAsync(file, At(file, percent), SeekProbe.FirstRead, cancellationToken);
        Add(_cold, timing.FirstByte);
        Tell(new SeekResult(percent, direction, "fresh", Warm: false, timing.FirstByte, Full: null));
    }

    /// <summary>Measures the first byte of the file without an open connection.</summary>
    private async Task ColdOpenAsync(CancellationToken cancellationToken)
    {
        await using var session = await run.OpenSessionAsync(SessionUse.Seeks, cancellationToken);
        var cold = await new SeekProbe(run, session).FreshAsync(ReleaseImport.Pick(session.Files), 0, SeekProbe.FullRead, cancellationToken);
        run.Metrics["ttfb_cold_ms"] = cold.FirstByte;
        run.Narrator.Say($"    open: cold {cold.FirstByte:0.0} ms");
    }

    /// <summary>Measures in a session with open connections but no buffered data near the next seek points.</summary>
    private async Task WithWarmAsync(Func<IContentSession, TestedFile, CancellationToken, Task> measure, CancellationToken cancellationToken)
    {
        await using var session = await run.OpenSessionAsync(SessionUse.Seeks, cancellationToken);
        var file = ReleaseImport.Pick(session.Files);
        await new SeekProbe(run, session).FreshAsync(file, At(file, WarmUpPercent), SeekProbe.FullRead, cancellationToken);
        await session.SettleAsync(cancellationToken);
        await measure(session, file, cancellationToken);
    }

    private async Task FreshStreamsAsync(IContentSession session, TestedFile file, CancellationToken cancellationToken)
    {
        var probe = new SeekProbe(run, session);
        var open = await probe.FreshAsync(file, 0, SeekProbe.FirstRead, cancellationToken);
        run.Metrics["ttfb_warm_ms"] = open.FirstByte;
        run.Narrator.Say($"    open: warm {open.FirstByte:0.0} ms{Held(open.WasHeld)}");
        foreach (var (percent, direction) in Points)
        {
            var timing = await probe.FreshAsync(file, At(file, percent), SeekProbe.FullRead, cancellationToken);
            Warm(new SeekResult(percent, direction, "fresh", Warm: true, timing.FirstByte, timing.Last), timing.WasHeld);
        }
    }

    /// <summary>Repeats the seeks on one open stream. HTTP has no stream that supports seeking.</summary>
    private async Task OpenStreamAsync(IContentSession session, TestedFile file, CancellationToken cancellationToken)
    {
        if (!session.IsInProcess)
            return;
        var probe = new SeekProbe(run, session);
        await using var reader = run.Open(session, file, position: 0);
        foreach (var (percent, direction) in Points)
        {
            var timing = await probe.OnOpenAsync(reader, At(file, percent), SeekProbe.FullRead, cancellationToken);
            Warm(new SeekResult(percent, direction, "open", Warm: true, timing.FirstByte, timing.Last), timing.WasHeld);
        }
    }

    /// <summary>Measures articles per seek and the time of the first 64 KiB. The reads run back to back.</summary>
    private async Task SmallReadsAsync(IContentSession session, TestedFile file, CancellationToken cancellationToken)
    {
        var probe = new SeekProbe(run, session);
        var dice = new Random((int)run.Options.Seed);
        long[] places = [.. Points.Select(point => At(file, point.Percent)), .. Enumerable.Range(0, run.Options.Seeks).Select(_ => dice.NextInt64(file.Length))];
        var before = await BodiesAsync(session, cancellationToken);
        for (var i = 0; i < places.Length; i++)
        {
            var timing = await probe.FreshAsync(file, places[i], SmallRead, cancellationToken);
            if (i == places.Length - 1)
                await session.SettleAsync(cancellationToken);

            // Count until the next seek, so that articles started by the last seek belong to it.
            var after = await BodiesAsync(session, cancellationToken);
            if (!timing.WasHeld)
            {
                Add(_small, timing.Last);
                Add(_smallFirst, timing.FirstByte);
                Add(_articles, after - before);
            }

            before = after;
        }
    }

    /// <summary>Returns the BODY commands so far, from the mock if there is one.</summary>
    private async Task<long> BodiesAsync(IContentSession session, CancellationToken cancellationToken) =>
        run.Mock is null ? (await session.CountsAsync(cancellationToken)).Bodies : (await run.Mock.CountsAsync(cancellationToken)).Total.Bodies;

    private static long At(TestedFile file, int percent) => file.Length * percent / 100;

    private static string Held(bool wasHeld) => wasHeld ? "  (held)" : "";

    /// <summary>Reports a warm seek. A seek into buffered bytes does not count, because it does not use the open connections.</summary>
    private void Warm(SeekResult seek, bool wasHeld)
    {
        if (!wasHeld)
        {
            Add(_first, seek.FirstByte);
            Add(_full, seek.Full);
        }

        Tell(seek, Held(wasHeld));
    }

    private void Tell(SeekResult seek, string mark = "")
    {
        run.Seeks.Add(seek);
        run.Narrator.Say($"    {(seek.Warm ? "warm" : "cold")} {seek.Stream,-5} {seek.Percent,3} %  first byte {Milliseconds(seek.FirstByte),9}  full {Milliseconds(seek.Full),9}{mark}");
    }

    private void Note()
    {
        var metrics = run.Metrics;
        metrics["seek_first_byte_ms.p50"] = _first.Median;
        metrics["seek_first_byte_ms.p95"] = _first.Percentile(95);
        metrics["seek_first_byte_ms.worst"] = _first.Max;
        metrics["seek_cold_first_byte_ms.p50"] = _cold.Median;
        metrics["seek_cold_first_byte_ms.p95"] = _cold.Percentile(95);
        metrics["seek_cold_first_byte_ms.worst"] = _cold.Max;
        metrics["seek_full_ms.median"] = _full.Median;
        metrics["seek_full_ms.worst"] = _full.Max;
        metrics["seek_64k_ms.median"] = _small.Median;
        metrics["seek_64k_ms.p95"] = _small.Percentile(95);
        metrics["seek_64k_ms.worst"] = _small.Max;
        metrics["seek_64k_first_byte_ms.p50"] = _smallFirst.Median;
        metrics["seek_64k_first_byte_ms.p95"] = _smallFirst.Percentile(95);
        metrics["articles_per_seek.count"] = _articles.Count;
        metrics["articles_per_seek.median"] = _articles.Median;
        metrics["articles_per_seek.worst"] = _articles.Max;
        run.Narrator.Say($"    64 KiB, {_small.Count} seeks: first byte p50 {_smallFirst.Median:0.0} ms, p95 {_smallFirst.Percentile(95):0.0} ms; last byte p50 {_small.Median:0.0} ms, p95 {_small.Percentile(95):0.0} ms, worst {_small.Max:0.0} ms; articles per seek: median {_articles.Median:0.#}, worst {_articles.Max:0}");
    }

    private static void Add(Samples samples, double? value)
    {
        if (value is >= 0)
            samples.Add(value.Value);
    }

    private static string Milliseconds(double? value) => value switch
    {
        null => "-",
        < 0 => "timeout",
        _ => string.Create(CultureInfo.InvariantCulture, $"{value:0.0} ms"),
    };
}
