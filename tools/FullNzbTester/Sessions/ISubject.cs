using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Steps;

namespace Sluice.Tools.FullNzbTester.Sessions;

/// <summary>What a run is about: the engine in this process, or a running server.</summary>
internal interface ISubject : IAsyncDisposable
{
    /// <summary>Steps 1 to 4 and the first byte after them.</summary>
    Task ImportAsync(RunContext run, StepRunner steps, CancellationToken cancellationToken);

    /// <summary>Everything anew, as far as that can be had: no connection, nothing learned, nothing held.</summary>
    Task<IContentSession> OpenSessionAsync(RunContext run, SessionUse use, CancellationToken cancellationToken);

    /// <summary>Makes small releases that have not been seen yet.</summary>
    /// <param name="run">The run.</param>
    /// <param name="count">How many; 0 where there is no queue that could take them.</param>
    /// <returns>Adds all of them and ends when the last is in its place. Called once.</returns>
    Func<CancellationToken, Task> PrepareImports(RunContext run, int count);

    /// <summary>What the run has cost its providers so far.</summary>
    ValueTask<LineCounts> CountsAsync(CancellationToken cancellationToken);

    /// <summary>What the measured process has spent so far.</summary>
    ProcessCost Cost();

    /// <summary>Sentences about what the mock has seen and should not have; empty when all is well.</summary>
    IEnumerable<string> Disagreements(Mock.MockCounts counts);
}

/// <summary>What a session is for; content that is read whole is made ready ahead.</summary>
internal enum SessionUse
{
    /// <summary>Places here and there.</summary>
    Seeks,

    /// <summary>One file from its start.</summary>
    Sequential,

    /// <summary>Several readers.</summary>
    Playback,

    /// <summary>Several readers for a long time, while the time of day jumps where the subject lets it.</summary>
    Soak,
}
