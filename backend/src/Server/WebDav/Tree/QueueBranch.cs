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

    public QueueRoot Root { get; }

    public string ManualFolder => _names.ManualFolder;

    /// <summary>Returns the item at a path below <c>/nzbs</c>, or null. An NZB directly in <c>/nzbs</c> belongs to <see cref="ManualFolder"/>.</summary>
    public async ValueTask<IStoreItem?> FindAsync(IReadOnlyList<string> path, CancellationToken cancellationToken) => path switch
    {
        [] => Root,
        [var name] => await FindFolderAsync(name, cancellationToken) ?? (IStoreItem?)await _names.FindAsync(ManualFolder, name, cancellationToken),
        [var folder, var name] => await _names.FindAsync(folder, name, cancellationToken),
        _ => null,
    };

    /// <summary>Returns desktop litter below <c>/nzbs</c>, or null. Runs no query, because desktops look for litter constantly (DAV-14).</summary>
    public IStoreItem? FindLitter(IReadOnlyList<string> path) => path switch
    {
        [var name] => _names.FindLitter(ManualFolder, name),
        [var folder, var name] => _names.FindLitter(folder, name),
        _ => null,
    };

    /// <summary>Throws if the database is unavailable. Called before items without a row are shown, so that they never appear alone (DAV-6).</summary>
    public Task RequireAsync(CancellationToken cancellationToken) => _names.ListFoldersAsync(cancellationToken);

    /// <summary>Lists the category folders by name, both configured and in use.</summary>
    public async IAsyncEnumerable<IStoreItem> ListFoldersAsync(
        [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken)
    {
        foreach (var name in await _names.ListFoldersAsync(cancellationToken))
            yield return Show(name);
    }

    private async ValueTask<QueueFolder?> FindFolderAsync(string name, CancellationToken cancellationToken)
    {
        // Query the database even for configured folders, because no folder may appear while the database is unavailable.
        var folders = await _names.ListFoldersAsync(cancellationToken);
        return name == ManualFolder || folders.Contains(name) ? Show(name) : null;
    }

    private QueueFolder Show(string name) => new(name, _names, _changes, _since, _content.GetUsedBytesAsync);
}
