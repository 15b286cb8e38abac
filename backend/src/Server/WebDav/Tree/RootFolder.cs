namespace Sluice.Server.WebDav.Tree;

/// <summary>The root of the tree. Its bytes are those of <c>/README</c> (DAV-2).</summary>
internal sealed class RootFolder(RootFiles files, ContentBranch content, QueueBranch queue, IdBranch ids, LinkBranch links)
    : TreeFolder("Sluice", files.Readme.Created, content.GetUsedBytesAsync)
{
    /// <inheritdoc />
    public override IStoreFile Index => files.Readme;

    /// <inheritdoc />
    public override async IAsyncEnumerable<IStoreItem> ReadChildrenAsync(
        [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken ct)
    {
        // In the order of their names.
        yield return files.Health;
        yield return ids.Root;
        yield return files.Readme;
        yield return links.Root;
        yield return await content.FindAsync([], ct) ?? throw new InvalidOperationException("The library has no root.");
        yield return queue.Root;
    }
}
