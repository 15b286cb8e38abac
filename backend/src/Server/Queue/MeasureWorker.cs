using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Library;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue;

/// <summary>
/// Measures the NZBs of items that were not measured when they were added: items of an earlier version, items back from the history, and
/// items of a library that was taken over. One item at a time, each in a transaction of its own, so that a restart continues where it stopped.
/// </summary>
internal sealed class MeasureWorker(QueueStore store, StoredNzbReader nzbs, SluiceDatabase database, TimeProvider time, ILogger<MeasureWorker> logger) : IWorker
{
    private readonly WakeSignal _signal = new(time);

    /// <inheritdoc/>
    public string Name => "the measuring of NZBs";

    /// <summary>Items may have come that are not measured.</summary>
    public void Wake() => _signal.Set();

    /// <inheritdoc/>
    public async Task RunAsync(CancellationToken stopping)
    {
        // Without a database the server only explains itself.
        if (!database.IsOpen)
            return;
        try
        {
            while (true)
            {
                for (var after = 0L; await store.FindUnmeasuredAsync(after, stopping) is { } item; after = item.Number)
                    await MeasureAsync(item.Id, item.NzbHash, stopping);
                await _signal.WaitAsync(longest: null, stopping);
            }
        }
        catch (DatabaseLostException)
        {
            // Safe mode: the queue is not shown any more.
        }
    }

    private async Task MeasureAsync(string id, string nzbHash, CancellationToken stopping)
    {
        try
        {
            await store.SetPostAsync(id, nzbHash, await PostMeasure.OfAsync(nzbs.ReadAsync(nzbHash, new NzbHead(), stopping)), stopping);
        }
        catch (IOException e)
        {
            // Its NZB is missing or damaged, or the disk is: the import of the item says so. The next start tries again.
            QueueLog.NotMeasured(logger, id, e.Message);
        }
    }
}
