using Sluice.Server.Database;
using Sluice.Server.History;

namespace Sluice.Server.AdminApi;

/// <summary>Shows the history.</summary>
internal sealed class HistoryRows(HistoryListStore store)
{
    /// <summary>A page of rows.</summary>
    public async Task<RowPage<HistoryRow>> ReadAsync(HistoryQuery query, RowPlace? after, int limit, CancellationToken cancellationToken) =>
        (await store.ReadAsync(query, after, limit, cancellationToken)).Of(Of);

    /// <summary>The rows of some ids, in any order; those that are not in the history are left out.</summary>
    public async Task<IReadOnlyList<HistoryRow>> ReadAsync(IReadOnlyCollection<string> ids, CancellationToken cancellationToken) =>
        [.. (await store.FindAsync(ids, cancellationToken)).Select(Of)];

    /// <summary>Items of the history.</summary>
    public Task<long> CountAsync(CancellationToken cancellationToken) => store.CountAsync(cancellationToken);

    /// <summary>Items by their ids, or all that match.</summary>
    /// <param name="items">The ids or the filter.</param>
    /// <param name="cancellationToken">Counts until the query begins.</param>
    /// <returns>The row numbers of those that are in the history; null where both or none of the two are given.</returns>
    public async Task<IReadOnlyList<long>?> SelectAsync(HistoryItems items, CancellationToken cancellationToken)
    {
        if (items.Ids is null == items.Filter is null)
            return null;
        return items.Ids is { } ids
            ? [.. (await store.FindAsync(ids, cancellationToken)).Select(item => item.Number)]
            : await store.FindNumbersAsync(QueryOf(items.Filter!.Q, items.Filter.Category, items.Filter.Result, items.Filter.Reason), cancellationToken);
    }

    /// <summary>What a list or a selection asks for.</summary>
    internal static HistoryQuery QueryOf(string? q, string? category, JobResult? result, FailureReason? reason) => new()
    {
        Words = SearchText.WordsOf(q),
        Category = QueueResource.Given(category),
        Completed = result is { } known ? known == JobResult.Completed : null,
        Reason = reason?.ToString(),
    };

    /// <summary>The row of an item.</summary>
    internal static HistoryRow Of(HistoryItem item) => new(
        item.Id,
        item.Name,
        item.Category,
        item.IsCompleted ? JobResult.Completed : JobResult.Failed,
        Enum.TryParse<FailureReason>(item.Reason, out var reason) ? reason : null,
        item.IsCompleted ? null : item.FailMessage,
        item.Bytes,
        item.CompletedAt,
        Math.Max(0, (long)(item.CompletedAt - item.StartedAt).TotalMilliseconds),
        item is { IsCompleted: true, ReleaseId: not null } ? $"{item.Folder}/{item.Name}" : null,
        item.MayReturn);
}
