using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.AdminApi;

internal sealed class QueueRows(QueueListStore store, HistoryListStore history, QueueMoments moments, QueuePause pause, TimeProvider time)
{
    public QueueState State => new(pause.IsPaused, pause.Left is { } left ? time.WallTime() + left : null);

    public async Task<RowPage<QueueRow>> ReadAsync(QueueQuery query, RowPlace? after, int limit, CancellationToken cancellationToken)
    {
        var page = await store.ReadAsync(query, after, limit, cancellationToken);
        var moment = moments.Now;
        return page.Of(item => Of(item, moment, time));
    }

    /// <summary>Returns the rows with these ids in any order. Skips unknown ids.</summary>
    public async Task<IReadOnlyList<QueueRow>> ReadAsync(IReadOnlyCollection<string> ids, CancellationToken cancellationToken)
    {
        var items = await store.FindAsync(ids, cancellationToken);
        var moment = moments.Now;
        return [.. items.Select(item => Of(item, moment, time))];
    }

    public Task<int> CountAsync(CancellationToken cancellationToken) => store.CountAsync(cancellationToken);

    /// <summary>Returns the names and failures of new items. Also reads the history, because an item may have failed already.</summary>
    public async Task<QueueAdded> NamesOfAsync(IReadOnlyList<string> ids, CancellationToken cancellationToken)
    {
        var names = (await store.FindAsync(ids, cancellationToken)).ToDictionary(item => item.Id, item => item.Name);
        var ended = names.Count < ids.Count ? await history.FindAsync([.. ids.Where(id => !names.ContainsKey(id))], cancellationToken) : [];
        foreach (var item in ended)
            names[item.Id] = item.Name;
        var failures = ended.Where(item => !item.IsCompleted).ToDictionary(item => item.Id, item => item.FailMessage);
        return new QueueAdded(ids, [.. ids.Select(id => names.GetValueOrDefault(id, ""))], [.. ids.Select(id => failures.GetValueOrDefault(id, ""))]);
    }

    /// <summary>Returns the ids of the selected items in the queue; null unless either ids or a filter is given.</summary>
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
