using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Mock;
using Sluice.Tools.FullNzbTester.Report;
using Sluice.Tools.FullNzbTester.Sessions;
using Sluice.Usenet.Nntp;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>State shared by the steps of one run.</summary>
/// <param name="number">1-based number of the run.</param>
/// <param name="providers">Providers for fetches outside the subject; empty if only a server knows them.</param>
/// <param name="mock">The mock, or null with real providers.</param>
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

    /// <summary>Whether the flags make articles unreadable, so that reads may end at a hole.</summary>
    public bool MayMeetHoles => options.Mock?.MakesHoles == true;

    /// <summary>Shortest response time. Earlier bytes were buffered or already in transit. Zero if unknown.</summary>
    public TimeSpan SoonestAnswer => options.Mock?.SoonestAnswer ?? TimeSpan.Zero;

    public Findings Findings { get; } = new();

    public MetricSheet Metrics { get; } = new();

    public List<StepResult> Steps { get; } = [];

    public List<SeekResult> Seeks { get; } = [];

    /// <summary>Rates of the one-second windows of step 7 in MB/s.</summary>
    public IReadOnlyList<double> Windows { get; set; } = [];

    /// <summary>All files that the import found; set by step 3.</summary>
    public IReadOnlyList<TestedFile> Files { get; set; } = [];

    /// <exception cref="InvalidOperationException">The import has not found a file yet.</exception>
    public TestedFile Picked => Files.Count > 0 ? ReleaseImport.Pick(Files) : throw new InvalidOperationException("The import has found no file.");

    /// <summary>The mock's counters at the end of the run.</summary>
    public MockCounts? MockCounts { get; set; }

    public Task<IContentSession> OpenSessionAsync(SessionUse use, CancellationToken cancellationToken) => subject.OpenSessionAsync(this, use, cancellationToken);

    /// <summary>Opens a stream that compares the bytes it reads.</summary>
    public CheckedReader Open(IContentSession session, TestedFile file, long position, long? end = null) =>
        new(session, file, Findings, options.VerifyBeforeServe, position, end);
}

/// <summary>Result of one step in the report.</summary>
/// <param name="Number">1 to 7.</param>
/// <param name="Note">Why it was skipped or failed; empty otherwise.</param>
internal sealed record StepResult(int Number, string Name, bool Ok, bool Skipped, double Milliseconds, long Commands, long Bytes, string Note);

/// <summary>Result of one seek.</summary>
/// <param name="Percent">Position in the file.</param>
/// <param name="Direction">forward, backward, or ancestor for the point order of the earlier tool.</param>
/// <param name="Stream">Whether the stream was fresh or already open.</param>
/// <param name="Warm">Whether connections were open.</param>
/// <param name="FirstByte">ms; −1 for a timeout, null if the read met a hole.</param>
/// <param name="Full">ms until 8 MiB or the end; −1 for a timeout, null for a hole or if not measured.</param>
internal sealed record SeekResult(int Percent, string Direction, string Stream, bool Warm, double? FirstByte, double? Full);
