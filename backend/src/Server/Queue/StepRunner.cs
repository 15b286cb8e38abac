using Microsoft.Extensions.Options;
using Sluice.Server.History;
using Sluice.Server.Settings;

namespace Sluice.Server.Queue;

/// <summary>Runs a step under its deadline: without progress for the time of the settings it is run once more, then it has failed (IMP-23).</summary>
internal sealed class StepRunner(QueueActivity activity, IOptionsMonitor<QueueOptions> options, TimeProvider time, ILogger<StepRunner> logger)
{
    private const int Tries = 2;

    /// <summary>Runs one step and notes its time.</summary>
    /// <returns>Why the item cannot be imported, or null.</returns>
    public async Task<ImportFailure?> RunAsync(IImportStep step, ImportWork work, CancellationToken cancellationToken)
    {
        var started = time.GetTimestamp();
        var detail = "";
        try
        {
            for (var attempt = 1; attempt <= Tries; attempt++)
            {
                using var deadline = new CancellationTokenSource(options.CurrentValue.StepTimeout, time);
                using var cancel = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, deadline.Token);
                var progress = new StepProgress(share =>
                {
                    deadline.CancelAfter(options.CurrentValue.StepTimeout);
                    activity.Report(work.Item.Id, step.Name, step.From + (int)(share * (step.To - step.From)));
                });
                progress.Report(0);
                try
                {
                    var failure = await step.RunAsync(work, progress, cancel.Token);
                    detail = progress.Detail;
                    return failure;
                }
                catch (OperationCanceledException) when (deadline.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
                {
                    QueueLog.StepStalled(logger, step.Name, work.Item.Id, attempt);
                }
            }

            return ImportFailure.Stalled(step.Name);
        }
        finally
        {
            work.Timings.Add(new StepTiming(step.Name, (long)time.GetElapsedTime(started).TotalMilliseconds, detail));
        }
    }
}
