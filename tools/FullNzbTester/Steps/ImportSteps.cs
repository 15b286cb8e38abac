using System.Diagnostics;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Usenet.Probing;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>Steps 1 to 4 by the engine, from nothing, and the first byte after them.</summary>
internal sealed class ImportSteps(RunContext run, StepRunner steps, EngineSubject subject)
{
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        if (run.Number == 1 && run.Mock is not null)
            await WarmUpAsync(cancellationToken);
        await using var session = subject.NewSession([]);
        var import = new ReleaseImport(run.Release, session.Source);
        var memory = run.Memory.Now;
        var started = Stopwatch.GetTimestamp();
        ProbeReport? report = null;

        await steps.RunAsync(1, async () =>
        {
            report = await import.ProbeAsync(cancellationToken);
            Tell(session, import, report);
            return null;
        });
        await steps.SkipAsync(2, "a plain release needs no PAR2 index");
        await steps.RunAsync(3, async () =>
        {
            run.Files = await import.DescribeAsync(report!, cancellationToken);
            TellFiles();
            return null;
        });
        await steps.SkipAsync(4, "a plain release has no archive sets");

        var importMs = Stopwatch.GetElapsedTime(started).TotalMilliseconds;
        run.Metrics["import_ms"] = importMs;
        run.Metrics["import_heads"] = report!.HeadsAsked;
        run.Metrics["import_round_trips"] = session.Source.Rounds;
        run.Metrics["rss_item_mib"] = run.Memory.Now - memory;
        var firstByte = await FirstByteAsync(session, cancellationToken);
        run.Metrics["click_to_byte_ms"] = firstByte < 0 ? firstByte : importMs + firstByte;
    }

    /// <summary>An import that is not counted: what a process does for the first time, compiling above all, says nothing about the engine.</summary>
    private async Task WarmUpAsync(CancellationToken cancellationToken)
    {
        var started = Stopwatch.GetTimestamp();
        try
        {
            await using var session = subject.NewSession([]);
            var import = new ReleaseImport(run.Release, session.Source);
            await import.DescribeAsync(await import.ProbeAsync(cancellationToken), cancellationToken);
            run.Narrator.Say($"the first import of all: {Stopwatch.GetElapsedTime(started).TotalMilliseconds:0} ms");
        }
        catch (Exception error) when (error is IOException or RefusedException)
        {
            // The import that counts meets it again, and says so.
        }
    }

    /// <summary>What a click after the import waits for, with whatever the import left open.</summary>
    private async Task<double?> FirstByteAsync(EngineSession session, CancellationToken cancellationToken)
    {
        var probe = new SeekProbe(run, session);
        var timing = await probe.FreshAsync(run.Picked, position: 0, SeekProbe.FirstRead, cancellationToken);
        return timing.FirstByte;
    }

    private void Tell(EngineSession session, ReleaseImport import, ProbeReport report)
    {
        run.Narrator.Say($"    {import.PostedFiles} files, {import.Segments} segments, {report.HeadsAsked} heads asked in {session.Source.Rounds} round trips, {report.Misses} misses, {report.Corrupt} refused bodies");
        if (report.HeadsAsked > import.HeadsAllowed)
            run.Narrator.Say($"    WARNING: more heads than the {import.HeadsAllowed} of IMP-21");
    }

    private void TellFiles()
    {
        const int Shown = 10;
        foreach (var file in run.Files.Take(Shown))
        {
            var map = file.Map;
            run.Narrator.Say($"    {file.Name} (by {file.NameSource}): {file.Length:n0} bytes, {map.Count} parts of {map[0].Length:n0}, {Exceptions(map)} exceptions, {file.Kind}");
        }

        if (run.Files.Count > Shown)
            run.Narrator.Say($"    and {run.Files.Count - Shown} more");
    }

    private static int Exceptions(Usenet.Streams.Maps.SegmentMap map)
    {
        var odd = 0;
        for (var index = 1; index < map.Count - 1; index++)
            odd += map[index].Length == map[0].Length ? 0 : 1;
        return odd;
    }
}
