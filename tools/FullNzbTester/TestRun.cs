using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Mock;
using Sluice.Tools.FullNzbTester.Steps;

namespace Sluice.Tools.FullNzbTester;

/// <summary>Runs all steps once and judges the result.</summary>
internal sealed class TestRun(RunContext run)
{
    /// <exception cref="RefusedException">The NZB cannot be used.</exception>
    /// <exception cref="IOException">The import failed, so the remaining steps make no sense.</exception>
    /// <exception cref="OperationCanceledException">The run was canceled.</exception>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        var steps = new StepRunner(run);
        var wanted = run.Options.Steps;
        var sequential = new SequentialStep(run);
        if (run.Mock is not null)
        {
            // Wait first, so that leftover work of the previous run is not counted.
            await RestAsync(run.Mock, cancellationToken);
            await run.Mock.ResetAsync(cancellationToken);
        }

        try
        {
            run.Metrics["rss_idle_mib"] = run.Memory.Idle;
            await run.Subject.ImportAsync(run, steps, cancellationToken);
            if (wanted.Contains(5))
                await steps.RunAsync(5, () => new FfprobeStep(run).RunAsync(cancellationToken));
            if (wanted.Contains(6))
                await steps.RunAsync(6, () => new SeekStep(run).RunAsync(cancellationToken));
            if (run.Options.Playback is { } playback)
                await new PlaybackRun(run).RunAsync(playback, cancellationToken);
            if (run.Options.Storm is { } storm)
                await new StormRun(run).RunAsync(storm, cancellationToken);
            if (run.Options.Soak is { } soak)
                await new SoakRun(run).RunAsync(soak, cancellationToken);
            if (wanted.Contains(7))
                await steps.RunAsync(7, () => sequential.RunAsync(cancellationToken));
        }
        finally
        {
            await NoteTotalsAsync();
        }

        // Reset counters, so that commands of the ceiling and of the hole judge do not count for the subject.
        if (run.Mock is not null)
            await CountAsync(run.Mock, cancellationToken);
        if (run.Options.Ceiling && sequential.File is { } file)
            await MeasureCeilingAsync(file, sequential.End, cancellationToken);
        foreach (var sentence in await new HoleJudge(run.Providers).JudgeAsync(run.Findings.Holes, cancellationToken))
            run.Findings.Fail($"{sentence}");
    }

    private async Task MeasureCeilingAsync(TestedFile file, long end, CancellationToken cancellationToken)
    {
        // A server's open connections would exhaust a hard limit.
        if (run.Mock is not null)
            await run.Mock.DropConnectionsAsync(cancellationToken);
        await new CeilingRun(run).RunAsync(file, end, cancellationToken);
    }

    // A server keeps its connections. The engine has closed its own.
    private Task RestAsync(MockControl mock, CancellationToken cancellationToken) =>
        run.Options.Server is null ? mock.WaitUntilClosedAsync(cancellationToken) : mock.WaitUntilQuietAsync(cancellationToken);

    private async Task NoteTotalsAsync()
    {
        var (metrics, line, findings) = (run.Metrics, await run.Subject.CountsAsync(CancellationToken.None), run.Findings);
        metrics["rss_peak_mib"] = run.Memory.Peak;
        metrics["commands"] = line.Commands;
        metrics["bodies"] = line.Bodies;
        metrics["connections_opened"] = line.Opened;
        metrics["connections_abandoned"] = line.Abandoned;
        metrics["connections_peak"] = line.Peak;
        metrics["bytes_verified"] = findings.Verified;
        metrics["bytes_wrong"] = findings.Wrong;
        metrics["bytes_unproved"] = findings.Unproved;
    }

    private async Task CountAsync(MockControl mock, CancellationToken cancellationToken)
    {
        // Both sides count until they are idle, and the mock notices a close slightly later.
        await RestAsync(mock, cancellationToken);
        run.MockCounts = await mock.CountsAsync(cancellationToken);
        var (subject, total) = (await run.Subject.CountsAsync(cancellationToken), run.MockCounts.Total);
        run.Narrator.Say($"    {run.Options.Mode} / mock: {subject.Commands} / {total.Commands} commands, {subject.Bodies} / {total.Bodies} BODY, {subject.Opened} / {total.Opened} connections, {subject.Peak} / {total.Peak} at a time");
        foreach (var sentence in run.Subject.Disagreements(run.MockCounts))
            run.Findings.Fail($"{sentence}");
    }
}
