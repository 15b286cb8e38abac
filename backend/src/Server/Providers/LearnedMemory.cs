using Sluice.Server.Database;
using Sluice.Server.Diagnostics;

namespace Sluice.Server.Providers;

/// <summary>Learned values that survive a restart.</summary>
internal interface ILearnedMemory
{
    /// <summary>The values as part of a sentence.</summary>
    string Name { get; }

    Task RestoreAsync(CancellationToken cancellationToken);

    /// <summary>Stores the values learned since the last call in one transaction; does nothing without new values.</summary>
    Task SaveAsync(CancellationToken cancellationToken);
}

/// <summary>
/// Carries learned values over a restart (F38): reads them at startup, writes them every half minute and at the end. A crash costs the last half
/// minute. A memory that fails does not keep the others from being read or written.
/// </summary>
internal sealed class LearnedWorker(IEnumerable<ILearnedMemory> memories, SluiceDatabase database, TimeProvider time, ILogger<LearnedWorker> logger)
    : IWorker
{
    private static readonly TimeSpan SaveInterval = TimeSpan.FromSeconds(30);

    public string Name => "what has been learned about providers";

    public async Task PrepareAsync(CancellationToken cancellationToken)
    {
        // In safe mode there is no database to read from, and nothing may overwrite it.
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

    /// <summary>Writes the last values after everything has stopped.</summary>
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
