using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.AdminApi;

/// <summary>Shows the queue: its rows, and whether it is paused.</summary>
internal sealed class QueueRows(QueueListStore store, HistoryListStore history, QueueMoments moments, QueuePause pause, TimeProvider time)
{
    /// <summary>Whether the queue is paused.</summary>
    public QueueState State => new(pause.IsPaused, pause.Left is { } left ? time.WallTime() + left : null);

    /// <summary>A page of rows.</summary>
    public async Task<RowPage<QueueRow>> ReadAsync(QueueQuery query, RowPlace? after, int limit, CancellationToken cancellationToken)
    {
        var page = await store.ReadAsync(query, after, limit, cancellationToken);
        var moment = moments.Now;
        return page.Of(item => Of(item, moment, time));
    }

    /// <summary>The rows of some ids, in any order; those that are not in the queue are left out.</summary>
    public async Task<IReadOnlyList<QueueRow>> ReadAsync(IReadOnlyCollection<string> ids, CancellationToken cancellationToken)
    {
        var items = await store.FindAsync(ids, cancellationToken);
        var moment = moments.Now;
        return [.. items.Select(item => Of(item, moment, time))];
    }

    /// <summary>Items of the queue.</summary>
    public Task<int> CountAsync(CancellationToken cancellationToken) => store.CountAsync(cancellationToken);

    /// <summary>The names of items that were just added, and the sentences of those that have failed already; what has left the queue has both in the history.</summary>
    public async Task<QueueAdded> NamesOfAsync(IReadOnlyList<string> ids, CancellationToken cancellationToken)
    {
        var names = (await store.FindAsync(ids, cancellationToken)).ToDictionary(item => item.Id, item => item.Name);
        var ended = names.Count < ids.Count ? await history.FindAsync([.. ids.Where(id => !names.ContainsKey(id))], cancellationToken) : [];
        foreach (var item in ended)
            names[item.Id] = item.Name;
        var failures = ended.Where(item => !item.IsCompleted).ToDictionary(item => item.Id, item => item.FailMessage);
        return new QueueAdded(ids, [.. ids.Select(id => names.GetValueOrDefault(id, ""))], [.. ids.Select(id => failures.GetValueOrDefault(id, ""))]);
    }

    /// <summary>Items by their ids, or all that match.</summary>
    /// <param name="ids">The ids; null where there is a filter.</param>
    /// <param name="filter">The filter; null where there are ids.</param>
    /// <param name="cancellationToken">Counts until the query begins.</param>
    /// <returns>The ids of those that are in the queue; null where both or none of the two are given.</returns>
    public async Task<IReadOnlyList<string>?> SelectAsync(IReadOnlyList<string>? ids, QueueSelection? filter, CancellationToken cancellationToken)
    {
        if (ids is null == filter is null)
            return null;
        if (ids is not null)
            return [.. (await store.FindAsync(ids, cancellationToken)).Select(item => item.Id)];
        var query = new QueueQuery
        {
            Words = SearchText.WordsOf(filter!.Q),
            Category = filter.Category,
            State = filter.State,
        };
        return await store.FindIdsAsync(query, cancellationToken);
    }

    /// <summary>The row of an item.</summary>
    /// <param name="item">The item, with its place.</param>
    /// <param name="moment">What is known of it beside its row.</param>
    /// <param name="time">The clock.</param>
    internal static QueueRow Of(QueueItem item, QueueMoment moment, TimeProvider time)
    {
        var (state, work) = (moment.StateOf(item), moment.Running.GetValueOrDefault(item.Id));
        return new QueueRow(
            item.Id,
            item.Name,
            item.Category,
            item.Priority,
            state,
            state == ItemState.Waiting ? moment.ReasonOf(item) : null,
            item.Index,
            work?.Percent ?? 0,
            item.EncodedBytes,
            item.Files,
            item.Segments,
            item.PostedAt,
            item.AddedAt,
            item.Password.Length > 0,
            JobSteps.Of(work, time));
    }
}
