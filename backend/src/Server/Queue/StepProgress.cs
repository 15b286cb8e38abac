namespace Sluice.Server.Queue;

/// <summary>Where a step says how far it is. Saying so also proves that it is alive (IMP-23).</summary>
internal sealed class StepProgress(Action<double> report)
{
    /// <summary>What the step found, in words, for the history.</summary>
    public string Detail { get; set; } = "";

    /// <summary>The step got further.</summary>
    /// <param name="share">0 to 1.</param>
    public void Report(double share) => report(Math.Clamp(share, 0, 1));
}
