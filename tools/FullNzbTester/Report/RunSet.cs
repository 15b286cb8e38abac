using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Steps;

namespace Sluice.Tools.FullNzbTester.Report;

/// <summary>All runs of one call. Figures are medians; steps, seeks and windows come from the last run.</summary>
internal sealed class RunSet(IReadOnlyList<RunContext> runs)
{
    /// <summary>The runs in order; at least one.</summary>
    public IReadOnlyList<RunContext> Runs => runs;

    public RunContext Last => runs[^1];

    public IEnumerable<string> Names => runs.SelectMany(run => run.Metrics.Names).Distinct();

    /// <summary>Median of a figure over the runs that measured it; null if none did.</summary>
    public double? this[string name] => SamplesOf(name).Median;

    /// <summary>Returns the values of a figure in run order; null if a run did not measure it.</summary>
    public IReadOnlyList<double?> ValuesOf(string name) => [.. runs.Select(run => run.Metrics[name])];

    /// <summary>(max − min) ÷ median; null for one run.</summary>
    public double? SpreadOf(string name) => SamplesOf(name) is { Count: > 1, Median: not 0 } samples ? (samples.Max - samples.Min) / samples.Median : null;

    public IReadOnlyList<string> Failures => [.. runs.SelectMany(run => run.Findings.Failures)];

    private Samples SamplesOf(string name) => new(ValuesOf(name).OfType<double>());
}
