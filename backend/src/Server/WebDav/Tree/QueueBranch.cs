using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav.Tree;

/// <summary><c>/nzbs</c>: the queue as files.</summary>
internal sealed class QueueBranch
{
    private readonly QueueNames _names;
    private readonly QueueChanges _changes;
    private readonly ContentBranch _content;
    private readonly DateTimeOffset _since;

    public QueueBranch(QueueNames names, QueueChanges changes, ContentBranch content, TimeProvider time)
    {
        _names = names;
        _changes = changes;
        _content = content;
        _since = time.WallTime();
        Root = new QueueRoot(this, changes, names, _since, content.GetUsedBytesAsync);
    }

    /// <summary><c>/nzbs</c> itself.</summary>
    public QueueRoot Root { get; }

    /// <summary>The folder of NZBs that are added without a category.</summary>
    public string ManualFolder => _names.ManualFolder;

    /// <summary>The item at a path below <c>/nzbs</c>, or null. An NZB directly in it is that of <see cref="ManualFolder"/>.</summary>
    public async ValueTask<IStoreItem?> FindAsync(IReadOnlyList<string> path, CancellationToken cancellationToken) => path switch
    {
        [] => Root,
        [var name] => await FindFolderAsync(name, cancellationToken) ?? (IStoreItem?)await _names.FindAsync(ManualFolder, name, cancellationToken),
        [var folder, var name] => await _names.FindAsync(folder, name, cancellationToken),
        _ => null,
    };

    /// <summary>Litter of a desktop at a path below <c>/nzbs</c>, or null. Costs no query (DAV-14).</summary>
    public IStoreItem? FindLitter(IReadOnlyList<string> path) => path switch
    {
        [var name] => _names.FindLitter(ManualFolder, name),
        [var folder, var name] => _names.FindLitter(folder, name),
        _ => null,
    };

    /// <summary>Whether the database answers. Asked for what needs no row of it, so that it is not shown without the rest (DAV-6).</summary>
    public Task RequireAsync(CancellationToken cancellationToken) => _names.ListFoldersAsync(cancellationToken);

    /// <summary>The category folders, configured or in use, by name.</summary>
    public async IAsyncEnumerable<IStoreItem> ListFoldersAsync(
        [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken)
    {
        foreach (var name in await _names.ListFoldersAsync(cancellationToken))
            yield return Show(name);
    }

    private async ValueTask<QueueFolder?> FindFolderAsync(string name, CancellationToken cancellationToken)
    {
        // The database is asked for every folder: while it cannot answer, no folder is shown.
        var folders = await _names.ListFoldersAsync(cancellationToken);
        return name == ManualFolder || folders.Contains(name) ? Show(name) : null;
    }

    private QueueFolder Show(string name) => new(name, _names, _changes, _since, _content.GetUsedBytesAsync);
}
