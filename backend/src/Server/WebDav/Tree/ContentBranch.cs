using Sluice.Server.Library;
using Sluice.Server.Playbacks;

namespace Sluice.Server.WebDav.Tree;

/// <summary><c>/content</c>: the library as files and folders.</summary>
internal sealed class ContentBranch(LibraryTree tree, LibraryStore store, PlaybackRegistry playbacks)
{
    /// <summary>The item at a path below <c>/content</c>, or null.</summary>
    public async ValueTask<IStoreItem?> FindAsync(IReadOnlyList<string> names, CancellationToken cancellationToken)
    {
        var entry = await StoreGuard.RunAsync(() => tree.FindAsync(names, cancellationToken).AsTask());
        return entry is null ? null : Show(entry);
    }

    /// <summary>The children of a folder, by name.</summary>
    public IAsyncEnumerable<IStoreItem> ListAsync(LibraryEntry folder, CancellationToken cancellationToken) =>
        StoreGuard.ReadAsync(tree.ListAsync(folder, cancellationToken), cancellationToken).Where(child => !TreeNames.IsLitter(child.Name)).Select(Show);

    /// <summary>The total length of all library files.</summary>
    public async ValueTask<long> GetUsedBytesAsync(CancellationToken cancellationToken) =>
        await StoreGuard.RunAsync(() => store.GetTotalLengthAsync(cancellationToken));

    private IStoreItem Show(LibraryEntry entry) =>
        entry is FileEntry file ? new ContentFile(file.File, playbacks) : new ContentFolder(entry, this);
}

/// <summary>A folder of <c>/content</c>, whatever its depth.</summary>
internal sealed class ContentFolder(LibraryEntry entry, ContentBranch branch)
    : TreeFolder(entry is RootEntry ? TreeNames.Content : entry.Name, entry.LastModified, branch.GetUsedBytesAsync)
{
    public override IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken cancellationToken) => branch.ListAsync(entry, cancellationToken);
}
