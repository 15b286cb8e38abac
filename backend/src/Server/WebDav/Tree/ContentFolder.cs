using Sluice.Server.Library;

namespace Sluice.Server.WebDav.Tree;

/// <summary>A folder of <c>/content</c>, whatever its depth.</summary>
internal sealed class ContentFolder(LibraryEntry entry, ContentBranch branch)
    : TreeFolder(entry is RootEntry ? TreeNames.Content : entry.Name, entry.LastModified, branch.GetUsedBytesAsync)
{
    /// <inheritdoc />
    public override IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken ct) => branch.ListAsync(entry, ct);
}
