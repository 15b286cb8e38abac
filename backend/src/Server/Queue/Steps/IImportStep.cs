using Sluice.Server.History;

namespace Sluice.Server.Queue.Steps;

/// <summary>One step of an import. Code for file formats belongs in the engine.</summary>
internal interface IImportStep
{
    /// <summary>Name shown in history, events and messages.</summary>
    string Name { get; }

    /// <summary>Relative duration. The step's share of the progress bar is this weight divided by the sum of all weights.</summary>
    int Weight { get; }

    /// <returns>Why the item cannot be imported, or null to continue.</returns>
    /// <exception cref="Usenet.Nntp.NntpException">No provider is available, so the item waits.</exception>
    Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken);
}

/// <summary>Receives the progress of a step. A step without progress counts as stuck (IMP-23).</summary>
internal sealed class StepProgress(Action<double> report)
{
    public StepFindings Findings { get; set; } = StepFindings.None;

    /// <param name="share">Completed fraction of the step, from 0 to 1.</param>
    public void Report(double share) => report(Math.Clamp(share, 0, 1));
}
