using Sluice.Server.History;

namespace Sluice.Server.Queue.Steps;

/// <summary>One step of an import. It holds no logic of formats: that is in the engine.</summary>
internal interface IImportStep
{
    /// <summary>Name in history, events and sentences.</summary>
    string Name { get; }

    /// <summary>How long the step takes beside the others, in any unit: its part of the progress is this weight divided by the sum of all.</summary>
    int Weight { get; }

    /// <summary>Does the work.</summary>
    /// <returns>Why the item cannot be imported, or null to go on.</returns>
    /// <exception cref="Usenet.Nntp.NntpException">No provider could be asked; the item waits.</exception>
    Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken);
}

/// <summary>Takes a step's report of its own progress, which also proves that the step is alive (IMP-23).</summary>
internal sealed class StepProgress(Action<double> report)
{
    /// <summary>The findings of the step, for the history and for those who watch.</summary>
    public StepFindings Findings { get; set; } = StepFindings.None;

    /// <summary>The step got further.</summary>
    /// <param name="share">Part of the step that is done, 0 to 1.</param>
    public void Report(double share) => report(Math.Clamp(share, 0, 1));
}
