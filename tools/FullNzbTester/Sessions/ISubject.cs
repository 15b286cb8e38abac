using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Steps;

namespace Sluice.Tools.FullNzbTester.Sessions;

/// <summary>The measured system: the engine in this process, or a running server.</summary>
internal interface ISubject : IAsyncDisposable
{
    /// <summary>Runs steps 1 to 4 and measures the first byte after them.</summary>
    Task ImportAsync(RunContext run, StepRunner steps, CancellationToken cancellationToken);

    /// <summary>Opens a session as cold as the subject allows: no connection, no measurements, no buffered data.</summary>
    Task<IContentSession> OpenSessionAsync(RunContext run, SessionUse use, CancellationToken cancellationToken);

    /// <summary>Creates small releases that the subject has not seen.</summary>
    /// <param name="count">Number of releases; 0 if the subject has no queue.</param>
    /// <returns>A function that adds all releases and completes after the last import. Call it once.</returns>
    Func<CancellationToken, Task> PrepareImports(RunContext run, int count);

    /// <summary>Returns the provider traffic of the run so far.</summary>
    ValueTask<LineCounts> CountsAsync(CancellationToken cancellationToken);

    /// <summary>Returns the resource usage of the measured process so far.</summary>
    ProcessCost Cost();

    /// <summary>Returns a message for each unexpected counter of the mock.</summary>
    IEnumerable<string> Disagreements(Mock.MockCounts counts);
}

/// <summary>Purpose of a session. Content for sequential reads is prepared ahead.</summary>
internal enum SessionUse
{
    Seeks,

    /// <summary>Reads one file from its start.</summary>
    Sequential,

    Playback,

    /// <summary>Several readers for a long time. The time of day jumps if the subject allows it.</summary>
    Soak,
}
