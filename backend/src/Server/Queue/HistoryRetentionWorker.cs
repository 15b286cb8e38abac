using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue;

/// <summary>
/// Removes archived and failed items of the history once they are as old as <c>database.history-retention-days</c> says. Never content,
/// and never a completed item that a client may still want to import.
/// </summary>
internal sealed class HistoryRetentionWorker(
    HistoryStore store, HistoryRemoval removal, SluiceDatabase database, IOptionsMonitor<HistoryOptions> options, TimeProvider time) : IWorker
{
    /// <summary>Between two looks.</summary>
    public static readonly TimeSpan Pause = TimeSpan.FromHours(1);

    /// <inheritdoc/>
    public string Name => "the age of the history";

    /// <inheritdoc/>
    public async Task RunAsync(CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(Pause, time);
        while (await timer.WaitForNextTickAsync(stopping))
        {
            if (options.CurrentValue.Retention is { } retention && database.IsOpen)
                await removal.RemoveAsync(await store.FindOldAsync(time.WallTime() - retention, stopping), stopping);
        }
    }
}
