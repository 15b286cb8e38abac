namespace Sluice.Server.Diagnostics;

/// <summary>A background worker. Only <see cref="BackgroundWork"/> runs workers, so that an exception never ends the process.</summary>
internal interface IWorker
{
    /// <summary>Name of the work, for the log.</summary>
    string Name { get; }

    /// <summary>Runs once before the listener starts, in the order of registration. An exception is logged, and startup continues.</summary>
    Task PrepareAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>Runs until shutdown, or returns when no work is left. Called again after an exception.</summary>
    Task RunAsync(CancellationToken stopping) => Task.CompletedTask;

    /// <summary>Runs once at shutdown, after every <see cref="RunAsync"/> has returned.</summary>
    Task FinishAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
