using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Steps;

namespace Sluice.Server.AdminApi;

/// <summary>Shows all steps of an import, those included that have not begun.</summary>
internal static class JobSteps
{
    private static readonly (JobStepName Shown, string Name)[] All =
    [
        (JobStepName.Read, nameof(ReadNzb)),
        (JobStepName.Heads, nameof(ProbeHeads)),
        (JobStepName.Names, nameof(ResolveNames)),
        (JobStepName.Archives, nameof(MapArchives)),
        (JobStepName.Availability, nameof(CheckAvailability)),
        (JobStepName.Publish, nameof(Publish)),
    ];

    /// <summary>The steps of an item as they stand; null for one that is not worked on.</summary>
    public static IReadOnlyList<JobStep> Of(ItemActivity? work, TimeProvider time)
    {
        var known = (work?.Steps ?? []).ToDictionary(step => step.Step);
        return [.. All.Select(step => known.TryGetValue(step.Name, out var begun) ? Show(step.Shown, begun, time) : new JobStep(step.Shown, JobStepState.Pending, null, ""))];
    }

    /// <summary>The steps of an import that has ended. Where it failed, the last one that began did.</summary>
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
