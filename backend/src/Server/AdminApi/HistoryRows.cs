using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Usenet.Media.Titles;

namespace Sluice.Server.AdminApi;

internal sealed class HistoryRows(HistoryListStore store)
{
    public async Task<RowPage<HistoryRow>> ReadAsync(HistoryQuery query, RowPlace? after, int limit, CancellationToken cancellationToken) =>
        (await store.ReadAsync(query, after, limit, cancellationToken)).Of(Of);

    /// <summary>Returns the rows with these ids in any order. Skips unknown ids.</summary>
    public async Task<IReadOnlyList<HistoryRow>> ReadAsync(IReadOnlyCollection<string> ids, CancellationToken cancellationToken) =>
        [.. (await store.FindAsync(ids, cancellationToken)).Select(Of)];

    public Task<long> CountAsync(CancellationToken cancellationToken) => store.CountAsync(cancellationToken);

    /// <summary>Returns the row numbers of a selection; null unless it has exactly one of ids and filter.</summary>
    public async Task<IReadOnlyList<long>?> SelectAsync(HistoryItems items, CancellationToken cancellationToken)
    {
        if (items.Ids is null == items.Filter is null)
            return null;
        return items.Ids is { } ids
            ? [.. (await store.FindAsync(ids, cancellationToken)).Select(item => item.Number)]
            : await store.FindNumbersAsync(
                QueryOf(items.Filter!.Q, items.Filter.Category, items.Filter.Result, items.Filter.Reason, items.Filter.InNoLibrary, items.Filter.WithGaps), cancellationToken);
    }

    internal static HistoryQuery QueryOf(string? q, string? category, JobResult? result, FailureReason? reason, bool? inNoLibrary, bool? withGaps) => new()
    {
        Words = SearchText.WordsOf(q),
        Category = QueueResource.Given(category),
        Completed = result is { } known ? known == JobResult.Completed : null,
        Reason = reason?.ToString(),
        Rejected = inNoLibrary == true,
        WithGaps = withGaps == true,
    };

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
        item.IsCompleted ? item.ContentPath : null,
        item.MayReturn,
        item.IsRejected,
        FilmTitle.Of(item.Facts is { } facts ? facts.Title : ReleaseTitle.Parse(item.Name)),
        item.IsCompleted ? item.Facts?.MissingShare : null);
}
