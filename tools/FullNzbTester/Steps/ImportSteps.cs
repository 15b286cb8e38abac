using System.Diagnostics;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Usenet.Probing;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>Runs steps 1 to 4 with a fresh engine, and measures the first byte after them.</summary>
internal sealed class ImportSteps(RunContext run, StepRunner steps, EngineSubject subject)
{
    // Limits printed lists, so that a post of thousands of files stays readable.
    private const int Shown = 10;

    public async Task RunAsync(CancellationToken cancellationToken)
    {
        if (run.Number == 1 && run.Mock is not null)
            await WarmUpAsync(cancellationToken);
        await using var session = subject.NewSession([]);
        var import = NewImport(session);
        var memory = run.Memory.Now;
        var started = Stopwatch.GetTimestamp();
        ProbeReport? report = null;

        await steps.RunAsync(1, async () =>
        {
            report = await import.ProbeAsync(cancellationToken);
            Tell(session, import, report);
            return null;
        });
        await steps.RunAsync(2, async () => await ReadPar2Async(import, cancellationToken));
        await steps.RunAsync(3, () =>
        {
            TellHeads(import);
            return Task.FromResult<string?>(null);
        });
        await steps.RunAsync(4, async () =>
        {
            run.Files = await import.MapAsync(cancellationToken);
            TellMap(import);
            TellFiles();
            return null;
        });

        var importMs = Stopwatch.GetElapsedTime(started).TotalMilliseconds;
        run.Metrics["import_ms"] = importMs;
        run.Metrics["import_heads"] = report!.HeadsAsked;
        run.Metrics["import_round_trips"] = session.Source.Rounds;
        run.Metrics["rss_item_mib"] = run.Memory.Now - memory;
        var firstByte = await FirstByteAsync(session, cancellationToken);
        run.Metrics["click_to_byte_ms"] = firstByte < 0 ? firstByte : importMs + firstByte;
    }

    private ReleaseImport NewImport(EngineSession session) => new(run.Release, session, run.Options.Passwords, run.Options.SkipArchives);

    /// <summary>Runs an uncounted import, because one-time costs such as JIT compilation say nothing about the engine.</summary>
    private async Task WarmUpAsync(CancellationToken cancellationToken)
    {
        var started = Stopwatch.GetTimestamp();
        try
        {
            await using var session = subject.NewSession([]);
            var import = NewImport(session);
            await import.ProbeAsync(cancellationToken);
            await import.ReadPar2Async(cancellationToken);
            await import.MapAsync(cancellationToken);
            run.Narrator.Say($"the first import of all: {Stopwatch.GetElapsedTime(started).TotalMilliseconds:0} ms");
        }
        catch (Exception error) when (error is IOException or RefusedException)
        {
            // The measured import meets the same error and reports it.
        }
    }

    /// <summary>Measures the wait of a click after the import, with the connections that the import left open.</summary>
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

    /// <returns>Why the step was skipped, or null.</returns>
    private async Task<string?> ReadPar2Async(ReleaseImport import, CancellationToken cancellationToken)
    {
        var indexes = await import.ReadPar2Async(cancellationToken);
        if (indexes.Count == 0)
            return "the release has no PAR2 index";
        run.Narrator.Say($"    {indexes.Sum(index => index.Files.Count)} files described, {import.Claims.Count(claim => claim.Name is not null)} of {import.Payload.Count} posted ones known by their first 16 KiB or their name");
        return null;
    }

    private void TellHeads(ReleaseImport import)
    {
        var claims = import.Claims;
        foreach (var (index, head) in import.Payload.Take(Shown).Index())
        {
            var (name, source) = claims.ElementAtOrDefault(index).Name is { } described ? (described, "PAR2")
                : head.Subject.FileName is { } posted ? (posted, "subject") : (head.Header?.Name ?? "?", "yEnc");
            var size = head.Map is { Count: > 0 } map ? $"{map.Length:n0} bytes, {map.Count} parts of {map[0].Length:n0}, {Exceptions(map)} exceptions" : "not looked into";
            run.Narrator.Say($"    {name} (by {source}): {size}, {head.Kind}");
        }

        TellRest(import.Payload.Count);
    }

    private void TellMap(ReleaseImport import)
    {
        if (import.Map is not { } map)
        {
            run.Narrator.Say($"    archives are read as they are");
            return;
        }

        run.Metrics["map_predicted"] = map.Predicted.Count;
        var encrypted = map.Files.Count(file => file.Cipher is not null);
        run.Narrator.Say($"    {map.Files.Count} files in {map.Files.Sum(file => file.Extents.Count)} slices, {encrypted} encrypted; {map.Predicted.Count} volumes predicted, {map.Refused.Count} sets refused");
        foreach (var refused in map.Refused.Take(Shown))
            run.Narrator.Say($"    {refused.Format} {refused.Name}: {refused.Fault}, {refused.Detail}");
        foreach (var note in map.Notes.Take(Shown))
            run.Narrator.Say($"    {note}");
    }

    private void TellFiles()
    {
        foreach (var file in run.Files.Take(Shown))
        {
            run.Narrator.Say($"    {file.Name} (by {file.NameSource}): {file.Length:n0} bytes in {file.Articles.Count} articles, {file.Kind}");
            if (run.Release.IsCompared && file.NewTruth is null)
                run.Findings.Fail($"the import has found {file.Name} of {file.Length} bytes, which the release does not hold");
        }

        TellRest(run.Files.Count);
    }

    private void TellRest(int count)
    {
        if (count > Shown)
            run.Narrator.Say($"    and {count - Shown} more");
    }

    private static int Exceptions(Usenet.Streams.Maps.SegmentMap map)
    {
        var odd = 0;
        for (var index = 1; index < map.Count - 1; index++)
            odd += map[index].Length == map[0].Length ? 0 : 1;
        return odd;
    }
}
