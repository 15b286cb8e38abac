using Sluice.Server.Database;
using Sluice.Server.Diagnostics;

namespace Sluice.Server.Providers;

/// <summary>Values learned while the server runs that are kept over a restart.</summary>
internal interface ILearnedMemory
{
    /// <summary>Loads the values of an earlier run.</summary>
    Task RestoreAsync(CancellationToken cancellationToken);

    /// <summary>Stores values learned since the last call, in one transaction; none without new values.</summary>
    /// <param name="cancellationToken">Counts until the transaction begins.</param>
    Task SaveAsync(CancellationToken cancellationToken);
}

/// <summary>
/// Carries learned values over a restart (F38): read once at the start, written every half minute and at the end. A crash costs the
/// last half minute, which is learned again. A memory that cannot be read or written does not keep the others from it.
/// </summary>
internal sealed class LearnedWorker(IEnumerable<ILearnedMemory> memories, SluiceDatabase database, TimeProvider time, ILogger<LearnedWorker> logger)
    : IWorker
{
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(30);

    /// <inheritdoc/>
    public string Name => "what has been learned about providers";

    /// <inheritdoc/>
    public async Task PrepareAsync(CancellationToken cancellationToken)
    {
        // In safe mode there is nothing to read from, and nothing may be written over it.
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
                ProvidersLog.MemoryNotRead(logger, failure.Message);
            }
        }
    }

    /// <inheritdoc/>
    public async Task RunAsync(CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(Pause, time);
        while (await timer.WaitForNextTickAsync(stopping))
            await SaveAsync(stopping);
    }

    /// <summary>The last values are written when everything has stopped.</summary>
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
                ProvidersLog.MemoryNotWritten(logger, failure.Message);
            }
        }
    }
}
