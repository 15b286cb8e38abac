using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary>Figures over the whole queue.</summary>
/// <param name="EncodedBytes">Size of all items.</param>
/// <param name="BytesToGo">What is left of it.</param>
/// <param name="Longest">Until the last of the running items is done; null when none can be estimated.</param>
/// <param name="IsWorking">Whether any item is worked on.</param>
internal sealed record QueueSummary(long EncodedBytes, long BytesToGo, TimeSpan? Longest, bool IsWorking)
{
    /// <summary>Sums up. Only what is worked on has progress.</summary>
    public static async Task<QueueSummary> TakeAsync(
        QueueStore store,
        QueueTotals totals,
        IReadOnlyDictionary<string, ItemActivity> running,
        TimeProvider time,
        CancellationToken cancellationToken)
    {
        var left = totals.EncodedBytes;
        if (running.Count > 0)
        {
            await foreach (var item in store.StreamAsync(new QueueFilter { Ids = [.. running.Keys] }, 0, 0, cancellationToken))
                left -= item.EncodedBytes - BytesLeft(item.EncodedBytes, running[item.Id].Percent);
        }

        return new QueueSummary(totals.EncodedBytes, left, running.Values.Select(work => TimeLeft(work, time)).Max(), running.Count > 0);
    }

    /// <summary>What is left of a size (SAB-30).</summary>
    public static long BytesLeft(long bytes, int percent) => (long)(bytes * (100 - percent) / 100m);

    /// <summary>Estimated from progress and elapsed time; null when there is none yet.</summary>
    public static TimeSpan? TimeLeft(ItemActivity? work, TimeProvider time) =>
        work is { Percent: > 0 } ? time.GetElapsedTime(work.Began) * (100 - work.Percent) / work.Percent : null;
}
