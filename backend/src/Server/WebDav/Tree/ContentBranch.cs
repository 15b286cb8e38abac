using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Playbacks;

namespace Sluice.Server.WebDav.Tree;

/// <summary><c>/content</c>: the library as files and folders.</summary>
internal sealed class ContentBranch(LibraryTree tree, LibraryStore store, CompletedStore completed, ShownFiles shown, PlaybackRegistry playbacks)
{
    public async ValueTask<IStoreItem?> FindAsync(IReadOnlyList<string> names, CancellationToken cancellationToken)
    {
        var entry = await StoreGuard.RunAsync(() => tree.FindAsync(names, cancellationToken).AsTask()) ?? await FindSharedAsync(names, cancellationToken);
        return entry is null ? null : Show(entry);
    }

    /// <summary>Lists the children of a folder by name.</summary>
    public IAsyncEnumerable<IStoreItem> ListAsync(LibraryEntry folder, CancellationToken cancellationToken) =>
        StoreGuard.ReadAsync(tree.ListAsync(folder, cancellationToken), cancellationToken).Where(child => !TreeNames.IsLitter(child.Name)).Select(Show);

    public async ValueTask<long> GetUsedBytesAsync(CancellationToken cancellationToken) =>
        await StoreGuard.RunAsync(() => store.GetTotalLengthAsync(cancellationToken));

    /// <summary>
    /// Finds a shared release by the folder name of another of its items (IMP-45), because clients such as AIOStreams look for that name in <c>/content</c>.
    /// </summary>
    private async Task<LibraryEntry?> FindSharedAsync(IReadOnlyList<string> names, CancellationToken cancellationToken)
    {
        if (names.Count < 2)
            return null;
        string[] inner = [.. names.Skip(2)];
        var found = await StoreGuard.RunAsync(() => completed.FindAsync(names[0], names[1], inner, inner, cancellationToken));
        return shown.Shows(found) ? found : null;
    }

    private IStoreItem Show(LibraryEntry entry) =>
        entry is FileEntry file ? new ContentFile(file.File, playbacks) : new ContentFolder(entry, this);
}

/// <summary>A folder in <c>/content</c> at any depth.</summary>
internal sealed class ContentFolder(LibraryEntry entry, ContentBranch branch)
    : TreeFolder(entry is RootEntry ? TreeNames.Content : entry.Name, entry.LastModified, branch.GetUsedBytesAsync)
{
    public override IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken cancellationToken) => branch.ListAsync(entry, cancellationToken);
}
