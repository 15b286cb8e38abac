using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Mock;
using Sluice.Tools.FullNzbTester.Sessions;
using Sluice.Tools.FullNzbTester.Steps;
using Sluice.Usenet.Nntp;

namespace Sluice.Tools.FullNzbTester.Engine;

/// <summary>Measures the engine in this process.</summary>
internal sealed class EngineSubject(TesterOptions options, IReadOnlyList<ProviderOptions> providers) : ISubject
{
    private readonly NntpListener _listener = new();

    /// <param name="files">The readable files; empty before the import.</param>
    /// <param name="depth">Pipelining depth; null for the run's depth.</param>
    /// <param name="time">Clock; null for the system clock.</param>
    public EngineSession NewSession(IReadOnlyList<TestedFile> files, int? depth = null, TimeProvider? time = null) =>
        new(depth is null ? providers : [.. providers.Select(provider => provider with { PipeliningDepth = depth })], options, files, _listener, time ?? TimeProvider.System);

    public Task ImportAsync(RunContext run, StepRunner steps, CancellationToken cancellationToken) => new ImportSteps(run, steps, this).RunAsync(cancellationToken);

    public Task<IContentSession> OpenSessionAsync(RunContext run, SessionUse use, CancellationToken cancellationToken) =>
        Task.FromResult<IContentSession>(NewSession(run.Files, time: use == SessionUse.Soak ? new JumpingClock() : null));

    // The command line allows no imports with the engine.
    public Func<CancellationToken, Task> PrepareImports(RunContext run, int count) => static _ => Task.CompletedTask;

    public ValueTask<LineCounts> CountsAsync(CancellationToken cancellationToken) => ValueTask.FromResult(LineCounts.Of(_listener.Now));

    public ProcessCost Cost() => ProcessCost.OfThis();

    public IEnumerable<string> Disagreements(MockCounts counts) => MockVerdict.Disagreements(_listener.Now, counts, options.Connections);

    public ValueTask DisposeAsync()
    {
        _listener.Dispose();
        return ValueTask.CompletedTask;
    }
}

/// <summary>
/// The system clock, but with a time of day that is correct, two years ahead and two years behind in turn, for one second each. An administrator may set the
/// clock like this (F43). Timestamps and timers stay correct.
/// </summary>
internal sealed class JumpingClock : TimeProvider
{
    private static readonly TimeSpan Apart = TimeSpan.FromDays(730);

    public override DateTimeOffset GetUtcNow() => base.GetUtcNow() + ((GetTimestamp() / TimestampFrequency % 3) switch { 0 => TimeSpan.Zero, 1 => Apart, _ => -Apart });
}
