using Sluice.Server.Queue;

namespace Sluice.Server.WebDav.Tree;

/// <summary>
/// <c>/completed-symlinks/.probe</c>: a permanent link to <c>/README</c> (DAV-18), which needs no provider. The path doctor checks for it through Sonarr,
/// because a visible folder does not prove that links work. Importers skip folders that start with a dot.
/// </summary>
internal sealed class ProbeFolder(CompleteFolder complete, RootFiles files, ContentBranch content)
    : TreeFolder(TreeNames.Probe, files.Readme.Created, content.GetUsedBytesAsync)
{
    // The extension makes programs list the link as a video.
    private const string LinkName = "probe.mkv" + LinkFile.Extension;

    // Created on each access, because the mount folder is a setting.
    private SmallFile Link => LinkFile.Of(LinkName, $"{complete.Mount}/{TreeNames.Readme}", Created, isHidden: false);

    public IStoreItem? Find(IReadOnlyList<string> names) => names switch
    {
        [] => this,
        [LinkName] => Link,
        _ => null,
    };

    public override IAsyncEnumerable<IStoreItem> ReadChildrenAsync(CancellationToken cancellationToken) =>
        AsyncEnumerable.Repeat<IStoreItem>(Link, 1);
}
