using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav.Tree;

/// <summary>The root of the tree. GET returns <c>/README</c> (DAV-2).</summary>
internal sealed class RootFolder(RootFiles files, ContentBranch content, QueueBranch queue, IdBranch ids, LinkBranch links)
    : TreeFolder("Sluice", files.Readme.Created, content.GetUsedBytesAsync)
{
    public override IStoreFile Index => files.Readme;

    public override async IAsyncEnumerable<IStoreItem> ReadChildrenAsync(
        [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken)
    {
        yield return files.Health;
        yield return ids.Root;
        yield return files.Readme;
        yield return links.Root;
        yield return await content.FindAsync([], cancellationToken) ?? throw new InvalidOperationException("The library has no root.");
        yield return queue.Root;
    }
}

internal sealed class RootFiles(TimeProvider time)
{
    private const string PlainText = "text/plain; charset=utf-8";

    private const string ReadmeText =
        """
        This is Sluice. What is here streams from Usenet while it is read; nothing is downloaded first.

        /content/<category>/<release>/    releases, ready to play
        /nzbs/<category>/                 the queue: put an NZB here (.nzb, .nzb.gz, .nzb.bz2, .zip) and it becomes
                                          a release; delete it and it leaves the queue. A file under a passing
                                          name (.part, .tmp, ~ and the like) is kept for an hour to be renamed
        /completed-symlinks/<category>/   one link per file of what the history calls completed, for programs that import
                                          it; deleting a release here archives its history item and nothing else
        /completed-symlinks/.probe/       one link to this text, by which Sluice tests what Sonarr and Radarr see
        /.ids/                            every file by its id, where those links lead
        /.health                          three bytes, "ok": a mount that shows them is mounted

        Everything else is read-only.

        """;

    public SmallFile Readme { get; } =
        new(TreeNames.Readme, System.Text.Encoding.UTF8.GetBytes(ReadmeText), time.WallTime()) { ContentType = PlainText };

    /// <summary>A file for watchdogs: reading it proves that the folder is mounted. Never cached, because a cached copy would survive an unmount.</summary>
    public SmallFile Health { get; } =
        new(TreeNames.Health, [.. "ok\n"u8], time.WallTime()) { ContentType = PlainText, CacheControl = "no-store" };
}
