using Sluice.Server.Events;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Queue;

namespace Sluice.Server.AdminApi;

/// <summary>A topic of a list: notes which of its rows have changed, and shows them when it is their turn.</summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the notes; nothing is taken under it.</remarks>
internal abstract class RowsTopic(EventFeed feed) : IChangeTopic
{
    // Rows of one frame: some 40 KiB of the queue. Where there are more, the page reads itself again.
    private const int MostChanged = 40;
    private const int MostRemoved = 200;

    private readonly Lock _gate = new();
    private readonly HashSet<string> _changed = [];
    private readonly HashSet<string> _removed = [];
    private bool _isMore;
    private bool _hasNews;

    /// <inheritdoc/>
    public abstract string Name { get; }

    /// <inheritdoc/>
    public IDisposable Begin(Action changed)
    {
        lock (_gate)
            Clear();
        return feed.Listen(happened =>
        {
            lock (_gate)
            {
                if (!Note(happened))
                    return;
                _hasNews = true;
            }

            changed();
        });
    }

    /// <inheritdoc/>
    public abstract ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken);

    /// <inheritdoc/>
    public async ValueTask<FrameMaker?> TakeAsync(CancellationToken cancellationToken)
    {
        string[]? changed;
        string[] removed;
        lock (_gate)
        {
            if (!_hasNews)
                return null;
            _isMore |= _changed.Count > MostChanged || _removed.Count > MostRemoved;
            (changed, removed) = (_isMore ? null : [.. _changed], _isMore ? [] : [.. _removed]);
            Clear();
        }

        return await DeltaAsync(changed, removed, cancellationToken);
    }

    /// <summary>Notes an event by the methods below. Runs under the lock.</summary>
    /// <returns>Whether it is one of the topic.</returns>
    protected abstract bool Note(LiveEvent happened);

    /// <summary>The frame.</summary>
    /// <param name="changed">Keys of rows that are new or other ones; null where there are too many to name.</param>
    /// <param name="removed">Keys of rows that are gone.</param>
    /// <param name="cancellationToken">Nobody watches any more.</param>
    protected abstract ValueTask<FrameMaker> DeltaAsync(IReadOnlyCollection<string>? changed, IReadOnlyCollection<string> removed, CancellationToken cancellationToken);

    /// <summary>Notes rows.</summary>
    protected bool NoteRows(RowsEvent rows)
    {
        if (rows is not { Changed: { } changed, Removed: { } removed })
            return _isMore = true;
        foreach (var key in changed)
            NoteRow(key);
        foreach (var key in removed)
        {
            _changed.Remove(key);
            if (_removed.Count <= MostRemoved)
                _removed.Add(key);
        }

        return true;
    }

    /// <summary>Notes one row that is new or another one.</summary>
    protected bool NoteRow(string key)
    {
        _removed.Remove(key);
        if (_changed.Count <= MostChanged)
            _changed.Add(key);
        return true;
    }

    /// <summary>Those of the rows that were not found: they are gone by now, whatever has been told of them.</summary>
    protected static IReadOnlyList<string> Gone(IReadOnlyCollection<string> changed, IReadOnlyCollection<string> removed, IEnumerable<string> found) =>
        [.. removed.Concat(changed).Except(found)];

    private void Clear()
    {
        _changed.Clear();
        _removed.Clear();
        _isMore = _hasNews = false;
    }
}

/// <summary>The topic <c>queue</c>.</summary>
internal sealed class QueueTopic(EventFeed feed, QueueRows rows) : RowsTopic(feed)
{
    /// <inheritdoc/>
    public override string Name => "queue";

    /// <inheritdoc/>
    public override async ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken)
    {
        var (total, state) = (await rows.CountAsync(cancellationToken), rows.State);
        return Frames.Of(EventsJson.Default.QueueFrame, seq => new QueueFrame(FrameKind.Snapshot, seq, total, state, [], []));
    }

    /// <inheritdoc/>
    protected override bool Note(LiveEvent happened) => happened switch
    {
        QueueItemsChanged items => NoteRows(items),
        JobStepEvent step => NoteRow(step.Id),
        QueuePauseChanged => true,
        _ => false,
    };

    /// <inheritdoc/>
    protected override async ValueTask<FrameMaker> DeltaAsync(
        IReadOnlyCollection<string>? changed, IReadOnlyCollection<string> removed, CancellationToken cancellationToken)
    {
        var found = changed is null ? null : await rows.ReadAsync(changed, cancellationToken);
        var gone = found is null ? [] : Gone(changed!, removed, found.Select(row => row.Id));
        var (total, state) = (await rows.CountAsync(cancellationToken), rows.State);
        return Frames.Of(EventsJson.Default.QueueFrame, seq => new QueueFrame(FrameKind.Delta, seq, total, state, found, gone));
    }
}

/// <summary>The topic <c>history</c>.</summary>
internal sealed class HistoryTopic(EventFeed feed, HistoryRows rows) : RowsTopic(feed)
{
    /// <inheritdoc/>
    public override string Name => "history";

    /// <inheritdoc/>
    public override async ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken)
    {
        var total = await rows.CountAsync(cancellationToken);
        return Frames.Of(EventsJson.Default.HistoryFrame, seq => new HistoryFrame(FrameKind.Snapshot, seq, total, [], []));
    }

    /// <inheritdoc/>
    protected override bool Note(LiveEvent happened) => happened is HistoryItemsChanged items && NoteRows(items);

    /// <inheritdoc/>
    protected override async ValueTask<FrameMaker> DeltaAsync(
        IReadOnlyCollection<string>? changed, IReadOnlyCollection<string> removed, CancellationToken cancellationToken)
    {
        var found = changed is null ? null : await rows.ReadAsync(changed, cancellationToken);
        var gone = found is null ? [] : Gone(changed!, removed, found.Select(row => row.Id));
        var total = await rows.CountAsync(cancellationToken);
        return Frames.Of(EventsJson.Default.HistoryFrame, seq => new HistoryFrame(FrameKind.Delta, seq, total, found, gone));
    }
}

/// <summary>The topic <c>files</c>: folders whose entries are other ones.</summary>
internal sealed class FilesTopic(EventFeed feed, FileListStore store) : RowsTopic(feed)
{
    /// <inheritdoc/>
    public override string Name => "files";

    /// <inheritdoc/>
    public override async ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken)
    {
        var total = await store.CountReleasesAsync(cancellationToken);
        return Frames.Of(EventsJson.Default.FilesFrame, seq => new FilesFrame(FrameKind.Snapshot, seq, total, []));
    }

    /// <inheritdoc/>
    protected override bool Note(LiveEvent happened) => happened is ReleasesChanged releases && NoteRows(releases);

    /// <inheritdoc/>
    protected override async ValueTask<FrameMaker> DeltaAsync(
        IReadOnlyCollection<string>? changed, IReadOnlyCollection<string> removed, CancellationToken cancellationToken)
    {
        // A release is an entry of its category, and the category has the time of its newest one.
        string[]? paths = changed is null ? null
            : [.. changed.Concat(removed).SelectMany(release => (string[])["", release[..release.IndexOf('/', StringComparison.Ordinal)], release]).Distinct()];
        var total = await store.CountReleasesAsync(cancellationToken);
        return Frames.Of(EventsJson.Default.FilesFrame, seq => new FilesFrame(FrameKind.Delta, seq, total, paths));
    }
}
