using Microsoft.Data.Sqlite;
using Sluice.Server.Database;

namespace Sluice.Server.Providers;

/// <summary>
/// Carries what has been learned over a restart (F38): read once at the start, written now and then and at the end. A crash costs
/// the last half minute, which is learned again.
/// </summary>
internal sealed class LearnedWorker(IEnumerable<ILearnedMemory> memories, SluiceDatabase database, TimeProvider time, ILogger<LearnedWorker> logger)
    : BackgroundService
{
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(30);

    /// <inheritdoc/>
    public override async Task StartAsync(CancellationToken cancellationToken)
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
            catch (SqliteException failure)
            {
                ProvidersLog.MemoryNotRead(logger, failure.Message);
            }
        }

        await base.StartAsync(cancellationToken);
    }

    /// <inheritdoc/>
    public override async Task StopAsync(CancellationToken cancellationToken)
    {
        await base.StopAsync(cancellationToken);
        await SaveAsync(cancellationToken);
    }

    /// <inheritdoc/>
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        using var timer = new PeriodicTimer(Pause, time);
        try
        {
            while (await timer.WaitForNextTickAsync(stoppingToken))
                await SaveAsync(stoppingToken);
        }
        catch (OperationCanceledException) when (stoppingToken.IsCancellationRequested)
        {
            // The last values are written when everything has stopped.
        }
    }

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
            catch (Exception failure) when (failure is SqliteException or DiskFullException)
            {
                ProvidersLog.MemoryNotWritten(logger, failure.Message);
            }
        }
    }
}
