using Sluice.Server.History;

namespace Sluice.Server.Queue;

/// <summary>Turns an item that cannot be imported into its history item.</summary>
internal static class FailedItem
{
    /// <summary>The history item.</summary>
    /// <param name="item">The queue item, also one that was never inserted.</param>
    /// <param name="failure">Why.</param>
    /// <param name="steps">Timings of the steps that ran.</param>
    /// <param name="now">When it ended.</param>
    /// <param name="startedAt">When the work began; null when there was none.</param>
    public static HistoryItem Of(
        QueueItem item,
        ImportFailure failure,
        IReadOnlyList<StepTiming> steps,
        DateTimeOffset now,
        DateTimeOffset? startedAt = null) => new(item)
        {
            Priority = (int)item.Priority,
            NzbHash = item.NzbHash.Length == 0 ? null : item.NzbHash,
            NzbLength = item.NzbLength,
            Bytes = item.EncodedBytes,
            Reason = failure.Reason.ToString(),
            FailMessage = failure.Sentence,
            StartedAt = startedAt ?? now,
            CompletedAt = now,
            Steps = steps,
        };
}
