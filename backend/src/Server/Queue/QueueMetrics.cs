using System.Text.Json;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;

namespace Sluice.Server.Queue;

/// <summary>Metrics of the queue and of imports (ADM-40). Counts completed imports; reads everything else on request.</summary>
/// <remarks>Thread-safe: atomic additions.</remarks>
internal sealed class QueueMetrics(QueueListStore queue)
{
    private readonly long[] _failed = new long[Enum.GetValues<FailureReason>().Length];
    private long _completed;

    public void AddCompleted() => Interlocked.Increment(ref _completed);

    public void AddFailed(FailureReason reason, int items = 1) => Interlocked.Add(ref _failed[(int)reason], items);

    public async ValueTask WriteAsync(MetricsWriter to, CancellationToken cancellationToken)
    {
        var states = await queue.CountStatesAsync(cancellationToken);
        to.Gauge("sluice_queue_items", "Items in the queue.");
        foreach (var state in Enum.GetValues<ItemState>())
            to.Sample(states.GetValueOrDefault(state), ("status", state.ToString().ToLowerInvariant()));
        to.Counter("sluice_imports_total", "Imports that ended; NZBs that were refused when they were added are absent.");
        to.Sample(Volatile.Read(ref _completed), ("result", "completed"), ("reason", ""));
        foreach (var reason in Enum.GetValues<FailureReason>())
            to.Sample(Volatile.Read(ref _failed[(int)reason]), ("result", "failed"), ("reason", JsonNamingPolicy.KebabCaseLower.ConvertName(reason.ToString())));
    }
}
