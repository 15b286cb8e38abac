using Sluice.Server.History;
using Sluice.Server.Queue;

namespace Sluice.Server.AdminApi;

/// <summary>Lists all steps of an import, including those not yet begun.</summary>
internal static class JobSteps
{
    // History rows store these names, so they must not change.
    private static readonly (JobStepName Shown, string Name)[] All =
    [
        (JobStepName.Read, "ReadNzb"),
        (JobStepName.Heads, "ProbeHeads"),
        (JobStepName.Names, "ResolveNames"),
        (JobStepName.Archives, "MapArchives"),
        (JobStepName.Availability, "CheckAvailability"),
        (JobStepName.Publish, "Publish"),
    ];

    /// <summary>Returns the steps of a queued item. If <paramref name="work"/> is null, no step has begun.</summary>
    public static IReadOnlyList<JobStep> Of(ItemActivity? work, TimeProvider time)
    {
        var known = (work?.Steps ?? []).ToDictionary(step => step.Step);
        return [.. All.Select(step => known.TryGetValue(step.Name, out var begun) ? Show(step.Shown, begun, time) : new JobStep(step.Shown, JobStepState.Pending, null, ""))];
    }

    /// <summary>Returns the steps of a finished import. If it failed, the last step that was begun is the failed one.</summary>
    public static IReadOnlyList<JobStep> Of(HistoryItem item)
    {
        var known = item.Steps.GroupBy(step => step.Step).ToDictionary(steps => steps.Key, steps => steps.Last());
        var failed = !item.IsCompleted && item.Steps is [.., var last] ? last.Step : null;
        return
        [
            .. All.Select(step => known.TryGetValue(step.Name, out var ended)
                ? new JobStep(step.Shown, ended.Step == failed ? JobStepState.Failed : JobStepState.Done, ended.Milliseconds, ended.Detail)
                : new JobStep(step.Shown, JobStepState.Pending, null, "")),
        ];
    }

    private static JobStep Show(JobStepName name, StepActivity step, TimeProvider time) => step.State switch
    {
        StepState.Started => new JobStep(name, JobStepState.Running, (long)time.GetElapsedTime(step.Began).TotalMilliseconds, ""),
        StepState.Finished => new JobStep(name, JobStepState.Done, step.Milliseconds, step.Findings.Words),
        _ => new JobStep(name, JobStepState.Failed, step.Milliseconds, step.Findings.Words),
    };
}
