using System.Globalization;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Steps;

namespace Sluice.Tools.FullNzbTester;

/// <summary>One pass over all steps, and the judgement at its end.</summary>
internal sealed class TestRun(RunContext run)
{
    /// <summary>Runs what was asked for.</summary>
    /// <exception cref="RefusedException">The NZB cannot be used.</exception>
    /// <exception cref="IOException">The import failed; nothing behind it makes sense.</exception>
    /// <exception cref="OperationCanceledException">The run was given up.</exception>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        var steps = new StepRunner(run);
        var wanted = run.Options.Steps;
        if (run.Mock is not null)
            await run.Mock.ResetAsync(cancellationToken);
        try
        {
            run.Metrics["rss_idle_mib"] = run.Memory.Idle;
            await new ImportSteps(run, steps).RunAsync(cancellationToken);
            if (wanted.Contains(5))
                await steps.RunAsync(5, () => new FfprobeStep(run).RunAsync(cancellationToken));
            if (wanted.Contains(6))
                await steps.RunAsync(6, () => new SeekStep(run).RunAsync(cancellationToken));
            if (wanted.Contains(7))
                await ReadAsync(steps, cancellationToken);
            if (run.Options.Playback is { } playback)
                await new PlaybackRun(run).RunAsync(playback, cancellationToken);
        }
        finally
        {
            NoteTotals();
        }

        await JudgeAsync(cancellationToken);
    }

    private async Task ReadAsync(StepRunner steps, CancellationToken cancellationToken)
    {
        var sequential = new SequentialStep(run);
        await steps.RunAsync(7, () => sequential.RunAsync(cancellationToken));
        if (run.Options.Ceiling)
            await new CeilingRun(run).RunAsync(sequential.End, cancellationToken);
    }

    private void NoteTotals()
    {
        var (metrics, engine, findings) = (run.Metrics, run.Totals.Now, run.Findings);
        metrics["rss_peak_mib"] = run.Memory.Peak;
        metrics["commands"] = engine.Commands;
        metrics["bodies"] = engine.Bodies;
        metrics["connections_opened"] = engine.SocketsOpened;
        metrics["connections_peak"] = engine.SocketsPeak;
        metrics["bytes_verified"] = findings.Verified;
        metrics["bytes_wrong"] = findings.Wrong;
        metrics["bytes_unproved"] = findings.Unproved;
    }

    /// <summary>The mock's counts first: what the judge of holes asks afterwards is not the engine's.</summary>
    private async Task JudgeAsync(CancellationToken cancellationToken)
    {
        if (run.Mock is null)
            return;
        run.MockCounts = await run.Mock.CountsAsync(cancellationToken);
        var (engine, mock) = (run.Totals.Now, run.MockCounts.Total);
        run.Narrator.Say(string.Create(
            CultureInfo.InvariantCulture,
            $"    engine / mock: {engine.Commands} / {mock.Commands} commands, {engine.Bodies} / {mock.Bodies} BODY ({engine.Unanswered} given up), {engine.SocketsOpened} / {mock.Opened} connections, {engine.SocketsPeak} / {mock.Peak} at a time"));
        foreach (var sentence in MockVerdict.Disagreements(run.Totals.Now, run.MockCounts, run.Options.Connections))
            run.Findings.Fail(sentence);
        foreach (var sentence in await new HoleJudge(run.Providers).JudgeAsync(run.Findings.Holes, cancellationToken))
            run.Findings.Fail(sentence);
    }
}
