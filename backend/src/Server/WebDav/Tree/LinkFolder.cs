using Sluice.Server.Library;

namespace Sluice.Server.WebDav.Tree;

/// <summary>A folder of <c>/completed-symlinks</c>, whatever its depth.</summary>
internal sealed class LinkFolder(LibraryEntry entry, LinkBranch branch)
    : TreeFolder(entry is RootEntry ? TreeNames.Links : entry.Name, entry.LastModified, branch.GetUsedBytesAsync)
{
    /// <inheritdoc />
    public override bool IsHidden => entry is FolderEntry folder && branch.IsHidden(folder);

    /// <inheritdoc />
    public override IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken ct) => branch.ListAsync(entry, ct);

    /// <inheritdoc />
    public override ValueTask<StoreAnswer> DeleteItemAsync(string name, CancellationToken ct) => branch.DeleteAsync(entry, name, ct);
}
