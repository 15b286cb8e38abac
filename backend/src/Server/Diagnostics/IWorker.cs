namespace Sluice.Server.Diagnostics;

/// <summary>Work in the background. <see cref="BackgroundWork"/> runs it, the only one that does: an exception never ends the process.</summary>
internal interface IWorker
{
    /// <summary>Name of its work, for the log.</summary>
    string Name { get; }

    /// <summary>Runs once before the listener, in the order of registration. An exception is logged, and the start goes on.</summary>
    Task PrepareAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Runs until the process ends, or returns when there is nothing more to do. After an exception it is called again.</summary>
    /// <param name="stopping">The process ends.</param>
    Task RunAsync(CancellationToken stopping) => Task.CompletedTask;

    /// <summary>Runs once at the end, after every <see cref="RunAsync"/> has returned.</summary>
    /// <param name="cancellationToken">The time for stopping is over.</param>
    Task FinishAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
