using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Mock;
using Sluice.Tools.FullNzbTester.Report;
using Sluice.Usenet.Nntp;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>What the steps of one run share.</summary>
internal sealed class RunContext(TesterOptions options, ReleaseContent release, IReadOnlyList<ProviderOptions> providers, MockProcess? mock, ResidentMemory memory, Narrator narrator)
{
    public TesterOptions Options => options;

    public ReleaseContent Release => release;

    public IReadOnlyList<ProviderOptions> Providers => providers;

    /// <summary>The mock's control port, or null with real providers.</summary>
    public MockControl? Mock => mock?.Control;

    public ResidentMemory Memory => memory;

    public Narrator Narrator => narrator;

    /// <summary>Whether the flags make some articles unreadable, so that reads may end at a hole.</summary>
    public bool MayMeetHoles => options.Mock?.MakesHoles == true;

    public EngineTotals Totals { get; } = new();

    public Findings Findings { get; } = new();

    public MetricSheet Metrics { get; } = new();

    public List<StepResult> Steps { get; } = [];

    public List<SeekResult> Seeks { get; } = [];

    /// <summary>Rates of one-second windows of step 7 in MB/s.</summary>
    public IReadOnlyList<double> Windows { get; set; } = [];

    /// <summary>Everything that the import found, and the file that is played; set by step 3.</summary>
    public IReadOnlyList<TestedFile> Files { get; set; } = [];

    /// <summary>The file that is played.</summary>
    /// <exception cref="InvalidOperationException">The import has not come that far.</exception>
    public TestedFile Picked => Files.Count > 0 ? ReleaseImport.Pick(Files) : throw new InvalidOperationException("The import has found no file.");

    /// <summary>The mock's counters at the end of the run.</summary>
    public MockCounts? MockCounts { get; set; }

    /// <summary>A fresh engine, with the providers' depth as the run has it or another one.</summary>
    public EngineSession NewSession(int? depth = null) =>
        new(depth is null ? providers : [.. providers.Select(provider => provider with { PipeliningDepth = depth })], options, Totals);

    /// <summary>A stream over the picked file that compares what it reads.</summary>
    public CheckedReader Open(EngineSession session, TestedFile file, long position, long? end = null) =>
        new(session, file, Findings, options.VerifyBeforeServe, position, end);
}

/// <summary>One step as the report has it.</summary>
/// <param name="Number">1 to 7.</param>
/// <param name="Name">Its name.</param>
/// <param name="Ok">False when it failed.</param>
/// <param name="Skipped">Whether it did not run.</param>
/// <param name="Milliseconds">Time it took.</param>
/// <param name="Commands">Commands that the engine sent.</param>
/// <param name="Bytes">Bytes that the engine received.</param>
/// <param name="Note">Why it was skipped or failed; empty otherwise.</param>
internal sealed record StepResult(int Number, string Name, bool Ok, bool Skipped, double Milliseconds, long Commands, long Bytes, string Note);

/// <summary>One seek.</summary>
/// <param name="Percent">Where in the file.</param>
/// <param name="Direction">forward, backward, or ancestor for the order in which the ancestor measured.</param>
/// <param name="Stream">Whether it was a fresh stream or the open one.</param>
/// <param name="Warm">Whether connections were open.</param>
/// <param name="FirstByte">ms; −1 for a timeout, null where the read met a hole.</param>
/// <param name="Full">ms until 8 MiB or the end; likewise, and null where it was not measured.</param>
internal sealed record SeekResult(int Percent, string Direction, string Stream, bool Warm, double? FirstByte, double? Full);
