namespace Sluice.Server.WebDav.Tree;

/// <summary>Sluice's tree of queue, library and history as an <see cref="IStore"/>.</summary>
internal sealed class SluiceStore(RootFiles files, ContentBranch content, QueueBranch queue, IdBranch ids, LinkBranch links, ProbeFolder probe) : IStore
{
    private readonly RootFolder _root = new(files, content, queue, ids, links);

    public IReadOnlyList<PathClass> Classes => TreeVerbs.All;

    public async ValueTask<IStoreItem?> FindAsync(DavPath path, CancellationToken cancellationToken)
    {
        if (TreeNames.IsLitter(path.Name))
            return path.Segments is [TreeNames.Queue, ..] ? queue.FindLitter([.. path.Segments.Skip(1)]) : null;
        switch (path.Segments)
        {
            case []:
                await queue.RequireAsync(cancellationToken);
                return _root;
            case [TreeNames.Readme]:
                await queue.RequireAsync(cancellationToken);
                return files.Readme;
            case [TreeNames.Health]:
                await queue.RequireAsync(cancellationToken);
                return files.Health;
            case [TreeNames.Content, ..]:
                return await content.FindAsync([.. path.Segments.Skip(1)], cancellationToken);
            case [TreeNames.Queue, ..]:
                return await queue.FindAsync([.. path.Segments.Skip(1)], cancellationToken);
            case [TreeNames.Ids, ..]:
                var found = await ids.FindAsync([.. path.Segments.Skip(1)], cancellationToken);
                if (found is IStoreCollection)
                    await queue.RequireAsync(cancellationToken);
                return found;
            case [TreeNames.Links, TreeNames.Probe, ..]:
                await queue.RequireAsync(cancellationToken);
                return probe.Find([.. path.Segments.Skip(2)]);
            case [TreeNames.Links, ..]:
                return await links.FindAsync([.. path.Segments.Skip(1)], cancellationToken);
            default:
                return null;
        }
    }

    public PathClass? Classify(DavPath path, IStoreItem? item) => path.Segments switch
    {
        [] => TreeVerbs.Root,
        [TreeNames.Readme or TreeNames.Health] => TreeVerbs.RootFile,
        [TreeNames.Content, ..] => item is IStoreCollection ? TreeVerbs.ContentFolder : TreeVerbs.ContentFile,
        [TreeNames.Ids, ..] => item is IStoreCollection ? TreeVerbs.IdFolder : TreeVerbs.IdFile,
        [TreeNames.Links] or [TreeNames.Links, _] => TreeVerbs.LinkCategory,
        [TreeNames.Links, TreeNames.Probe, ..] => TreeVerbs.ProbeLink,
        [TreeNames.Links, ..] => item is IStoreCollection ? TreeVerbs.LinkFolder : TreeVerbs.LinkFile,
        [TreeNames.Queue] => TreeVerbs.QueueRoot,
        [TreeNames.Queue, var name] when item is not IStoreFile && !TreeNames.IsFileName(name) => TreeVerbs.QueueFolder,
        [TreeNames.Queue, ..] => item is IStoreCollection ? TreeVerbs.QueueFolder : TreeVerbs.QueueItem,
        [TreeNames.View, ..] => null,
        [var name, ..] when TreeNames.IsReserved(name) => null,
        _ => TreeVerbs.Nothing,
    };

    public IReadOnlyList<string> Canonicalize(DavPath path) => path.Segments switch
    {
        [TreeNames.Queue, var name] when TreeNames.IsFileName(name) => [TreeNames.Queue, queue.ManualFolder, name],
        var names => names,
    };
}
