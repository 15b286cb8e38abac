using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Library;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Queue;

/// <summary>
/// Measures NZBs without a measure, added by older versions, retries or library imports. Each has its own transaction, so a restart loses nothing.
/// </summary>
internal sealed class MeasureWorker(QueueStore store, StoredNzbReader nzbs, SluiceDatabase database, TimeProvider time, ILogger<MeasureWorker> logger) : IWorker
{
    private readonly WakeSignal _signal = new(time);

    public string Name => "the measuring of NZBs";

    /// <summary>Wakes the worker, because items without a measure may have been added.</summary>
    public void Wake() => _signal.Set();

    public Task RunAsync(CancellationToken stopping) => database.WhileOpenAsync(async () =>
    {
        while (true)
        {
            for (var after = 0L; await store.FindUnmeasuredAsync(after, stopping) is { } item; after = item.Number)
                await MeasureAsync(item.Id, item.NzbHash, stopping);
            await _signal.WaitAsync(longest: null, stopping);
        }
    });

    private async Task MeasureAsync(string id, string nzbHash, CancellationToken stopping)
    {
        try
        {
            await store.SetPostAsync(id, nzbHash, await PostMeasure.OfAsync(nzbs.ReadAsync(nzbHash, new NzbHead(), stopping)), stopping);
        }
        catch (IOException e)
        {
            // Only log the failure, because the import reports a lost NZB or a failing disk. The next startup measures again.
            QueueLog.NotMeasured(logger, id, e.Message);
        }
    }
}
