using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue;

/// <summary>
/// Deletes failed and client-deleted history items older than <c>database.history-retention-days</c>, at startup and every hour. Other completed items
/// and all content stay, because a client may still import them.
/// </summary>
internal sealed class HistoryRetentionWorker(
    HistoryStore store, HistoryRemoval removal, SluiceDatabase database, IOptionsMonitor<HistoryOptions> options, TimeProvider time) : IWorker
{
    public static readonly TimeSpan Pause = TimeSpan.FromHours(1);

    public string Name => "the age of the history";

    public async Task RunAsync(CancellationToken stopping)
    {
        using var timer = new PeriodicTimer(Pause, time);
        do
        {
            if (options.CurrentValue.Retention is { } retention && database.IsOpen)
                await removal.RemoveAsync(await store.FindOldAsync(time.WallTime() - retention, stopping), stopping);
        }
        while (await timer.WaitForNextTickAsync(stopping));
    }
}
