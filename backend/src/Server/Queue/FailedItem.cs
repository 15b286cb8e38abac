using Sluice.Server.History;

namespace Sluice.Server.Queue;

internal static class FailedItem
{
    /// <summary>Returns the history item of a failed queue item.</summary>
    /// <param name="item">The item, which may have left the queue.</param>
    /// <param name="startedAt">When the import started; null if it never started.</param>
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
            // Keep the address only if the fetch failed, for a retry. An address that returned no NZB is useless.
            Url = failure.Reason is FailureReason.UrlFetchFailed or FailureReason.UrlRefused ? item.Url : null,
            Bytes = item.EncodedBytes,
            Reason = failure.Reason.ToString(),
            FailMessage = failure.Sentence,
            StartedAt = startedAt ?? now,
            CompletedAt = now,
            Steps = steps,
        };
}
