using System.Text.Json;
using Sluice.Server.Events;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Queue;

namespace Sluice.Server.AdminApi;

/// <summary>The topic of a list. Collects the keys of changed rows, and reads the rows when a frame is due.</summary>
/// <remarks>Thread-safe. <c>_gate</c> guards the keys; no other lock is acquired while holding it.</remarks>
internal abstract class RowsTopic(EventFeed feed) : IChangeTopic
{
    // Limits of one frame: about 40 KiB of queue rows. If more rows changed, the page reloads.
    private const int MostChanged = 40;
    private const int MostRemoved = 200;

    private readonly Lock _gate = new();
    private readonly HashSet<string> _changed = [];
    private readonly HashSet<string> _removed = [];
    private bool _isMore;
    private bool _hasNews;

    public abstract string Name { get; }

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

    public abstract ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken);

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

    /// <summary>Collects the keys of an event. Runs under the lock.</summary>
    /// <returns>Whether the event belongs to the topic.</returns>
    protected abstract bool Note(LiveEvent happened);

    /// <summary>Creates a frame from new or changed rows and removed rows. <paramref name="changed"/> is null if there are too many to list.</summary>
    protected abstract ValueTask<FrameMaker> DeltaAsync(IReadOnlyCollection<string>? changed, IReadOnlyCollection<string> removed, CancellationToken cancellationToken);

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

    protected bool NoteRow(string key)
    {
        _removed.Remove(key);
        if (_changed.Count <= MostChanged)
            _changed.Add(key);
        return true;
    }

    /// <summary>Returns the keys of removed rows, including changed rows that no longer exist.</summary>
    protected static IReadOnlyList<string> Gone(IReadOnlyCollection<string> changed, IReadOnlyCollection<string> removed, IEnumerable<string> found) =>
        [.. removed.Concat(changed).Except(found)];

    private void Clear()
    {
        _changed.Clear();
        _removed.Clear();
        _isMore = _hasNews = false;
    }
}

internal sealed class QueueTopic(EventFeed feed, QueueRows rows) : RowsTopic(feed)
{
    public override string Name => "queue";

    public override async ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken)
    {
        var (total, state) = (await rows.CountAsync(cancellationToken), rows.State);
        return seq => JsonSerializer.SerializeToUtf8Bytes(new QueueFrame(FrameKind.Snapshot, seq, total, state, [], []), AdminJson.Default.QueueFrame);
    }

    protected override bool Note(LiveEvent happened) => happened switch
    {
        QueueItemsChanged items => NoteRows(items),
        JobStepEvent step => NoteRow(step.Id),
        QueuePauseChanged => true,
        _ => false,
    };

    protected override async ValueTask<FrameMaker> DeltaAsync(
        IReadOnlyCollection<string>? changed, IReadOnlyCollection<string> removed, CancellationToken cancellationToken)
    {
        var found = changed is null ? null : await rows.ReadAsync(changed, cancellationToken);
        var gone = found is null ? [] : Gone(changed!, removed, found.Select(row => row.Id));
        var (total, state) = (await rows.CountAsync(cancellationToken), rows.State);
        return seq => JsonSerializer.SerializeToUtf8Bytes(new QueueFrame(FrameKind.Delta, seq, total, state, found, gone), AdminJson.Default.QueueFrame);
    }
}

internal sealed class HistoryTopic(EventFeed feed, HistoryRows rows) : RowsTopic(feed)
{
    public override string Name => "history";

    public override async ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken)
    {
        var total = await rows.CountAsync(cancellationToken);
        return seq => JsonSerializer.SerializeToUtf8Bytes(new HistoryFrame(FrameKind.Snapshot, seq, total, [], []), AdminJson.Default.HistoryFrame);
    }

    protected override bool Note(LiveEvent happened) => happened is HistoryItemsChanged items && NoteRows(items);

    protected override async ValueTask<FrameMaker> DeltaAsync(
        IReadOnlyCollection<string>? changed, IReadOnlyCollection<string> removed, CancellationToken cancellationToken)
    {
        var found = changed is null ? null : await rows.ReadAsync(changed, cancellationToken);
        var gone = found is null ? [] : Gone(changed!, removed, found.Select(row => row.Id));
        var total = await rows.CountAsync(cancellationToken);
        return seq => JsonSerializer.SerializeToUtf8Bytes(new HistoryFrame(FrameKind.Delta, seq, total, found, gone), AdminJson.Default.HistoryFrame);
    }
}

/// <summary>The topic <c>files</c>: folders whose entries changed.</summary>
internal sealed class FilesTopic(EventFeed feed, FileListStore store) : RowsTopic(feed)
{
    public override string Name => "files";

    public override async ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken)
    {
        var total = await store.CountReleasesAsync(cancellationToken);
        return seq => JsonSerializer.SerializeToUtf8Bytes(new FilesFrame(FrameKind.Snapshot, seq, total, []), AdminJson.Default.FilesFrame);
    }

    protected override bool Note(LiveEvent happened) => happened is ReleasesChanged releases && NoteRows(releases);

    protected override async ValueTask<FrameMaker> DeltaAsync(
        IReadOnlyCollection<string>? changed, IReadOnlyCollection<string> removed, CancellationToken cancellationToken)
    {
        // The category changes too, because it lists the release and shows the date of its newest release.
        string[]? paths = changed is null ? null
            : [.. changed.Concat(removed).SelectMany(release => (string[])["", release[..release.IndexOf('/', StringComparison.Ordinal)], release]).Distinct()];
        var total = await store.CountReleasesAsync(cancellationToken);
        return seq => JsonSerializer.SerializeToUtf8Bytes(new FilesFrame(FrameKind.Delta, seq, total, paths), AdminJson.Default.FilesFrame);
    }
}
