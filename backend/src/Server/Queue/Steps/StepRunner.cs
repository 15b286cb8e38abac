using System.Text.Json;
using Microsoft.Extensions.Options;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue.Steps;

/// <summary>
/// Runs the steps in order. A step that makes no progress before its deadline is repeated once, then the import fails (IMP-23). Percentages are derived from
/// weights, so that adding a step does not affect the others.
/// </summary>
internal sealed class StepRunner(
    IEnumerable<IImportStep> steps,
    QueueActivity activity,
    SincePaced sincePaced,
    IOptionsMonitor<QueueOptions> options,
    TimeProvider time,
    ILogger<StepRunner> logger)
{
    private const int Tries = 2;

    private readonly IReadOnlyList<IImportStep> _steps = [.. steps];
    private readonly Dictionary<string, DurationHistogram> _times = steps.Select(static step => step.Name).Distinct().ToDictionary(
        static name => name, static _ => new DurationHistogram(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180));

    public string FirstStep => _steps[0].Name;

    /// <summary>Runs the steps until one fails, and records their durations. Returns why the item cannot be imported, or null.</summary>
    public async Task<ImportFailure?> RunAsync(ImportWork work, CancellationToken cancellationToken)
    {
        // Tag the log lines of every component with the item.
        using var scope = logger.BeginScope(LogRing.ScopeOf(work.Item.Id));
        var (done, all) = (0, _steps.Sum(step => step.Weight));
        foreach (var step in _steps)
        {
            var before = done;
            if (await RunAsync(step, share => (int)(100 * (before + (share * step.Weight)) / all), work, cancellationToken) is { } failure)
                return failure;
            done += step.Weight;
        }

        return null;
    }

    public ValueTask WriteMetricsAsync(MetricsWriter to, CancellationToken cancellationToken)
    {
        to.Histogram("sluice_import_step_seconds", "Time of each step of an import, whatever its result.");
        foreach (var (name, times) in _times)
            to.Sample(times.Snapshot(), ("step", JsonNamingPolicy.KebabCaseLower.ConvertName(name)));
        return ValueTask.CompletedTask;
    }

    private async Task<ImportFailure?> RunAsync(
        IImportStep step, Func<double, int> percent, ImportWork work, CancellationToken cancellationToken)
    {
        var started = time.GetTimestamp();
        var (state, findings) = (StepState.Failed, StepFindings.None);
        activity.BeginStep(work.Item.Id, step.Name, started);
        try
        {
            for (var attempt = 1; attempt <= Tries; attempt++)
            {
                await using var deadline = new PacedDeadline(options.CurrentValue.StepTimeout, time, () => sincePaced(OperationLane.Import));
                using var cancel = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, deadline.Token);
                var progress = new StepProgress(share =>
                {
                    deadline.Restart(options.CurrentValue.StepTimeout);
                    activity.Report(work.Item.Id, step.Name, percent(share));
                });
                progress.Report(0);
                try
                {
                    var failure = await step.RunAsync(work, progress, cancel.Token);
                    findings = progress.Findings;
                    if (failure is null)
                        state = StepState.Finished;
                    return failure;
                }
                catch (OperationCanceledException) when (deadline.Token.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
                {
                    QueueLog.StepStalled(logger, step.Name, work.Item.Id, attempt);
                }
            }

            return ImportFailure.Stalled(step.Name);
        }
        finally
        {
            var elapsed = time.GetElapsedTime(started);
            var took = (long)elapsed.TotalMilliseconds;
            _times[step.Name].Record(elapsed);
            work.Timings.Add(new StepTiming(step.Name, took, findings.Words));
            activity.EndStep(new JobStepEvent(work.Item.Id, step.Name, state, took, findings));
        }
    }
}
