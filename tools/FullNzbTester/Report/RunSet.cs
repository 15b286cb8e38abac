using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Steps;

namespace Sluice.Tools.FullNzbTester.Report;

/// <summary>All runs of one call. Steps, seeks and windows are those of the last run; figures are medians.</summary>
internal sealed class RunSet(IReadOnlyList<RunContext> runs)
{
    /// <summary>The runs in order; at least one.</summary>
    public IReadOnlyList<RunContext> Runs => runs;

    /// <summary>The last run.</summary>
    public RunContext Last => runs[^1];

    /// <summary>The names of all figures.</summary>
    public IEnumerable<string> Names => runs.SelectMany(run => run.Metrics.Names).Distinct();

    /// <summary>Median of a figure over the runs that have it; null when none has.</summary>
    public double? this[string name] => SamplesOf(name).Median;

    /// <summary>The values of a figure in the order of the runs; null where it was not measured.</summary>
    public IReadOnlyList<double?> ValuesOf(string name) => [.. runs.Select(run => run.Metrics[name])];

    /// <summary>(max − min) ÷ median; null for one run.</summary>
    public double? SpreadOf(string name) => SamplesOf(name) is { Count: > 1, Median: not 0 } samples ? (samples.Max - samples.Min) / samples.Median : null;

    /// <summary>Sentences of all runs.</summary>
    public IReadOnlyList<string> Failures => [.. runs.SelectMany(run => run.Findings.Failures)];

    private Samples SamplesOf(string name) => new(ValuesOf(name).OfType<double>());
}
