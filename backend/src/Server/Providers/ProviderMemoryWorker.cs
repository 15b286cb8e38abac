using Microsoft.Data.Sqlite;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Providers;

/// <summary>
/// Carries what has been learned about providers over a restart (F38): read once at the start, written now and then and at the
/// end, one transaction at a time. A crash costs the last half minute, which is learned again.
/// </summary>
internal sealed class ProviderMemoryWorker(
    ProviderMemory memory,
    ProviderMemoryStore store,
    SluiceDatabase database,
    IOptionsMonitor<UsenetOptions> options,
    TimeProvider time,
    ILogger<ProviderMemoryWorker> logger)
    : BackgroundService
{
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(30);

    /// <inheritdoc/>
    public override async Task StartAsync(CancellationToken cancellationToken)
    {
        // In safe mode there is nothing to read from, and nothing may be written over it.
        if (!database.IsOpen)
            return;
        try
        {
            memory.Restore(await store.LoadAsync(options.CurrentValue.MissCacheEntries, cancellationToken));
        }
        catch (SqliteException failure)
        {
            ProvidersLog.MemoryNotRead(logger, failure.Message);
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
        var values = memory.TakeNew();
        if (values.IsEmpty)
            return;
        try
        {
            await store.SaveAsync(values, options.CurrentValue.MissCacheEntries, cancellationToken);
        }
        catch (Exception failure) when (failure is SqliteException or DiskFullException)
        {
            ProvidersLog.MemoryNotWritten(logger, failure.Message);
        }
    }
}
