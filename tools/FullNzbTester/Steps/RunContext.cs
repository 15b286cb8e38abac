using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Mock;
using Sluice.Tools.FullNzbTester.Report;
using Sluice.Tools.FullNzbTester.Sessions;
using Sluice.Usenet.Nntp;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>What the steps of one run share.</summary>
/// <param name="options">The options of the run.</param>
/// <param name="number">Number of the run, from 1.</param>
/// <param name="release">The release that is read.</param>
/// <param name="providers">Providers from which it can be fetched without the subject; none where only a server knows them.</param>
/// <param name="subject">The measured engine or server.</param>
/// <param name="mock">The mock, or null with real providers.</param>
/// <param name="memory">The memory of the subject.</param>
/// <param name="narrator">Tells the steps.</param>
internal sealed class RunContext(
    TesterOptions options, int number, ReleaseContent release, IReadOnlyList<ProviderOptions> providers, ISubject subject, MockProcess? mock, ResidentMemory memory, Narrator narrator)
{
    public TesterOptions Options => options;

    public int Number => number;

    public ReleaseContent Release => release;

    public ISubject Subject => subject;

    public IReadOnlyList<ProviderOptions> Providers => providers;

    /// <summary>The mock's control port, or null with real providers.</summary>
    public MockControl? Mock => mock?.Control;

    public ResidentMemory Memory => memory;

    public Narrator Narrator => narrator;

    /// <summary>Whether the flags make some articles unreadable, so that reads may end at a hole.</summary>
    public bool MayMeetHoles => options.Mock?.MakesHoles == true;

    /// <summary>The least time of an answer: bytes that come sooner were held or under way. Zero where it is unknown.</summary>
    public TimeSpan SoonestAnswer => options.Mock?.SoonestAnswer ?? TimeSpan.Zero;

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

    /// <summary>Everything anew.</summary>
    public Task<IContentSession> OpenSessionAsync(SessionUse use, CancellationToken cancellationToken) => subject.OpenSessionAsync(this, use, cancellationToken);

    /// <summary>A stream that compares what it reads.</summary>
    public CheckedReader Open(IContentSession session, TestedFile file, long position, long? end = null) =>
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
