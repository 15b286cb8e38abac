using System.Diagnostics;
using Sluice.Tools.FullNzbTester.Sessions;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>Runs one step: prints its start and its end with the cost, and converts its errors into findings.</summary>
internal sealed class StepRunner(RunContext run)
{
    private static readonly string[] Names = ["First articles", "PAR2", "File facts", "Grouping", "ffprobe", "Seeking", "Sequential"];

    private const string CutOff = "did not come to its end";

    /// <param name="number">1 to 7.</param>
    /// <param name="step">The work; returns the reason if it was skipped, otherwise null.</param>
    /// <exception cref="OperationCanceledException">The whole run was canceled.</exception>
    public async Task RunAsync(int number, Func<Task<string?>> step)
    {
        var isReported = run.Options.Steps.Contains(number);
        var name = Names[number - 1];
        if (isReported)
            run.Narrator.Say($"[{number}] {name}");

        var before = await run.Subject.CountsAsync(CancellationToken.None);
        var failures = run.Findings.Failures.Count;
        var started = Stopwatch.GetTimestamp();
        string? skipped = null;
        var hasEnded = false;
        try
        {
            skipped = await step();
            hasEnded = true;
        }
        catch (Exception error) when (error is IOException or TimeoutException)
        {
            hasEnded = true;
            run.Findings.Fail($"step {number}: {error.Message}");
            if (number <= 4)
                throw;
        }
        finally
        {
            if (isReported)
                await ReportAsync(number, name, failures, hasEnded, skipped, Stopwatch.GetElapsedTime(started), before);
        }
    }

    /// <summary>Reports a step that does not apply to this release.</summary>
    public Task SkipAsync(int number, string why) => RunAsync(number, () => Task.FromResult<string?>(why));

    private async Task ReportAsync(int number, string name, int failures, bool hasEnded, string? skipped, TimeSpan took, LineCounts before)
    {
        var cost = (await run.Subject.CountsAsync(CancellationToken.None)).Since(before);
        var failed = run.Findings.Failures.Skip(failures).ToList();
        foreach (var failure in failed)
            run.Narrator.Say($"    FAILED: {failure}");
        if (skipped is not null)
            run.Narrator.Say($"    skipped: {skipped}");
        if (!hasEnded)
            run.Narrator.Say($"    {CutOff}");
        run.Narrator.Say($"    {took.TotalMilliseconds:0} ms, {cost.Commands} commands, {cost.Bytes:n0} bytes received, {cost.Opened} connections opened");
        run.Steps.Add(new StepResult(number, name, hasEnded && failed.Count == 0, skipped is not null, took.TotalMilliseconds, cost.Commands, cost.Bytes, skipped ?? failed.FirstOrDefault() ?? (hasEnded ? "" : CutOff)));
    }
}
