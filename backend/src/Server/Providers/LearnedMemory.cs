using Sluice.Server.Database;
using Sluice.Server.Diagnostics;

namespace Sluice.Server.Providers;

/// <summary>Learned values that survive a restart.</summary>
internal interface ILearnedMemory
{
    /// <summary>Name of the values for use inside a sentence.</summary>
    string Name { get; }

    Task RestoreAsync(CancellationToken cancellationToken);

    /// <summary>Stores new values in one transaction. Does nothing without new values.</summary>
    Task SaveAsync(CancellationToken cancellationToken);
}

/// <summary>
/// Keeps learned values across restarts (F38): loads them at startup, and saves them every half minute and at shutdown. A failure of one memory does
/// not affect the others.
/// </summary>
internal sealed class LearnedWorker(IEnumerable<ILearnedMemory> memories, SluiceDatabase database, TimeProvider time, ILogger<LearnedWorker> logger)
    : IWorker
{
    private static readonly TimeSpan SaveInterval = TimeSpan.FromSeconds(30);

    public string Name => "what has been learned about providers";

    public async Task PrepareAsync(CancellationToken cancellationToken)
    {
        // Do nothing, because in safe mode the database must be neither read nor written.
        if (!database.IsOpen)
            return;
        foreach (var memory in memories)
        {
            try
            {
                await memory.RestoreAsync(cancellationToken);
            }
            catch (Exception failure) when (failure is not OperationCanceledException)
            {
                ProvidersLog.MemoryNotRead(logger, memory.Name, failure.Message);
            }
        }
    }

    public async Task RunAsync(CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(SaveInterval, time);
        while (await timer.WaitForNextTickAsync(stopping))
            await SaveAsync(stopping);
    }

    /// <summary>Saves the last values after all other work has stopped.</summary>
    public Task FinishAsync(CancellationToken cancellationToken) => SaveAsync(cancellationToken);

    private async Task SaveAsync(CancellationToken cancellationToken)
    {
        if (!database.IsOpen)
            return;
        foreach (var memory in memories)
        {
            try
            {
                await memory.SaveAsync(cancellationToken);
            }
            catch (Exception failure) when (failure is not OperationCanceledException)
            {
                ProvidersLog.MemoryNotWritten(logger, memory.Name, failure.Message);
            }
        }
    }
}
