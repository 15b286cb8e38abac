using System.Globalization;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Tools.FullNzbTester.Measure;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>Step 6: opens and seeks, cold and warm, each from a fresh stream and again on the open one.</summary>
internal sealed class SeekStep(RunContext run)
{
    private const int SmallRead = 64 << 10;

    private static readonly (int Percent, string Direction)[] Points =
    [
        (1, "forward"), (25, "forward"), (50, "forward"), (75, "forward"), (95, "forward"), (75, "backward"), (50, "backward"),
        (10, Ancestor), (50, Ancestor), (90, Ancestor), (20, Ancestor),
    ];

    private readonly Samples _cold = new();
    private readonly Samples _first = new();
    private readonly Samples _full = new();
    private readonly Samples _small = new();
    private readonly Samples _articles = new();

    /// <summary>Mark of the points in the order in which the ancestor measured.</summary>
    public const string Ancestor = "ancestor";

    public async Task<string?> RunAsync(CancellationToken cancellationToken)
    {
        foreach (var (percent, direction) in Points.Where(point => point.Direction == Ancestor))
            await ColdAsync(percent, direction, cancellationToken);

        await using (var session = run.NewSession())
        {
            await OpenAsync(session, cancellationToken);
            await FreshStreamsAsync(session, cancellationToken);
            await OpenStreamAsync(session, cancellationToken);
            await SmallReadsAsync(session, cancellationToken);
        }

        Note();
        return null;
    }

    private long At(int percent) => run.Picked.Length * percent / 100;

    private async Task ColdAsync(int percent, string direction, CancellationToken cancellationToken)
    {
        await using var session = run.NewSession();
        var timing = await new SeekProbe(run, session).FreshAsync(run.Picked, At(percent), SeekProbe.FirstRead, cancellationToken);
        Add(_cold, timing.FirstByte);
        Tell(new SeekResult(percent, direction, "fresh", Warm: false, timing.FirstByte, Full: null));
    }

    /// <summary>The first byte of the file without a connection, and again with those that playing has opened.</summary>
    private async Task OpenAsync(EngineSession session, CancellationToken cancellationToken)
    {
        var probe = new SeekProbe(run, session);
        var cold = await probe.FreshAsync(run.Picked, 0, SeekProbe.FullRead, cancellationToken);
        await session.SettleAsync(cancellationToken);
        var warm = await probe.FreshAsync(run.Picked, 0, SeekProbe.FirstRead, cancellationToken);
        run.Metrics["ttfb_cold_ms"] = cold.FirstByte;
        run.Metrics["ttfb_warm_ms"] = warm.FirstByte;
        run.Narrator.Say(string.Create(CultureInfo.InvariantCulture, $"    open: cold {cold.FirstByte:0.0} ms, warm {warm.FirstByte:0.0} ms"));
    }

    private async Task FreshStreamsAsync(EngineSession session, CancellationToken cancellationToken)
    {
        var probe = new SeekProbe(run, session);
        foreach (var (percent, direction) in Points)
        {
            var timing = await probe.FreshAsync(run.Picked, At(percent), SeekProbe.FullRead, cancellationToken);
            Warm(new SeekResult(percent, direction, "fresh", Warm: true, timing.FirstByte, timing.Last), timing.WasHeld);
        }
    }

    private async Task OpenStreamAsync(EngineSession session, CancellationToken cancellationToken)
    {
        var probe = new SeekProbe(run, session);
        await using var reader = run.Open(session, run.Picked, position: 0);
        foreach (var (percent, direction) in Points)
        {
            var timing = await probe.OnOpenAsync(reader, At(percent), SeekProbe.FullRead, cancellationToken);
            Warm(new SeekResult(percent, direction, "open", Warm: true, timing.FirstByte, timing.Last), timing.WasHeld);
        }
    }

    /// <summary>What a seek costs in articles, and how long its first 64 KiB take.</summary>
    private async Task SmallReadsAsync(EngineSession session, CancellationToken cancellationToken)
    {
        var probe = new SeekProbe(run, session);
        foreach (var (percent, _) in Points)
        {
            var before = await BodiesAsync(session, cancellationToken);
            var file = run.Picked;
            await using var reader = run.Open(session, file, At(percent));
            var timing = await probe.OnOpenAsync(reader, At(percent), SmallRead, cancellationToken);
            var after = await BodiesAsync(session, cancellationToken);
            Add(_small, timing.Last);
            Add(_articles, after - before);
        }
    }

    /// <summary>BODY commands so far, as the mock counts them where there is one.</summary>
    private async Task<long> BodiesAsync(EngineSession session, CancellationToken cancellationToken) =>
        run.Mock is null ? session.Counters.Bodies : (await run.Mock.CountsAsync(cancellationToken)).Total.Bodies;

    /// <summary>Warm means connections open and nothing of the target cached: a seek into what is held already is told and not counted.</summary>
    private void Warm(SeekResult seek, bool wasHeld)
    {
        if (!wasHeld)
        {
            Add(_first, seek.FirstByte);
            Add(_full, seek.Full);
        }

        Tell(seek, wasHeld ? "  (held)" : "");
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
        metrics["seek_64k_ms.worst"] = _small.Max;
        metrics["articles_per_seek.median"] = _articles.Median;
        metrics["articles_per_seek.worst"] = _articles.Max;
        run.Narrator.Say(string.Create(CultureInfo.InvariantCulture, $"    64 KiB: median {_small.Median:0.0} ms, worst {_small.Max:0.0} ms; articles per seek: median {_articles.Median:0.#}, worst {_articles.Max:0}"));
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
