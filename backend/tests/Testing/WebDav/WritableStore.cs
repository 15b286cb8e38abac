using System.Collections.Immutable;
using Sluice.Server.WebDav;

namespace Sluice.Testing.WebDav;

/// <summary>
/// A tree in memory in which every verb follows RFC 4918: litmus runs against it (DAV-90). The tree is one immutable map from paths
/// to nodes; a change replaces the map. Thread-safe.
/// </summary>
internal sealed class WritableStore : IStore
{
    /// <summary>Files and unused names.</summary>
    public static readonly PathClass File = new("a file",
        ["OPTIONS", "GET", "HEAD", "PROPFIND", "PUT", "DELETE", "MKCOL", "COPY", "MOVE", "PROPPATCH", "LOCK", "UNLOCK"], [], hasLocks: true);

    public static readonly PathClass Folder = new("a folder",
        ["OPTIONS", "PROPFIND", "DELETE", "MKCOL", "COPY", "MOVE", "PROPPATCH", "LOCK", "UNLOCK"], [], hasLocks: true);

    public static readonly PathClass Top = new("the root",
        ["OPTIONS", "PROPFIND", "MKCOL", "PROPPATCH", "LOCK", "UNLOCK"], ["DELETE", "COPY", "MOVE"], hasLocks: true);

    private readonly TimeProvider _time;
    private ImmutableSortedDictionary<string, WritableNode> _nodes;

    /// <summary>Creates a tree with an empty root.</summary>
    public WritableStore(TimeProvider time)
    {
        _time = time;
        _nodes = ImmutableSortedDictionary.Create<string, WritableNode>(StringComparer.Ordinal)
            .Add("", new WritableNode(null, time.GetUtcNow(), []));
    }

    /// <inheritdoc/>
    public IReadOnlyList<PathClass> Classes { get; } = [File, Folder, Top];

    /// <summary>A snapshot of the tree, by path; the path of the root is empty.</summary>
    public ImmutableSortedDictionary<string, WritableNode> Nodes => Volatile.Read(ref _nodes);

    /// <inheritdoc/>
    public ValueTask<IStoreItem?> FindAsync(DavPath path, CancellationToken cancellationToken)
    {
        var key = string.Concat(path.Segments.Select(name => "/" + name));
        return ValueTask.FromResult(Nodes.TryGetValue(key, out var node) ? Show(key, node) : null);
    }

    /// <inheritdoc/>
    public PathClass? Classify(DavPath path, IStoreItem? item)
    {
        if (path.IsRoot)
            return Top;
        return item is IStoreCollection ? Folder : File;
    }

    /// <summary>Returns the children of a folder, by name.</summary>
    public IEnumerable<IStoreItem> List(string folder) =>
        Nodes.Where(pair => pair.Key.LastIndexOf('/') is var slash and >= 0 && pair.Key[..slash] == folder)
            .Select(pair => Show(pair.Key, pair.Value));

    public StoreAnswer Put(string key, byte[]? content, bool mayReplace)
    {
        return Change(nodes =>
        {
            var old = nodes.GetValueOrDefault(key);
            if (old is not null && !mayReplace)
                return (nodes, StoreAnswer.AlreadyExists);
            var node = new WritableNode(content, _time.GetUtcNow(), old?.Stored ?? []);
            return (nodes.SetItem(key, node), old is null ? StoreAnswer.Created : StoreAnswer.Done);
        });
    }

    /// <summary>Removes a node and its descendants.</summary>
    public StoreAnswer Delete(string key) => Change(nodes =>
        nodes.ContainsKey(key) ? (nodes.RemoveRange(Tree(nodes, key)), StoreAnswer.Done) : (nodes, StoreAnswer.NotFound));

    /// <summary>Copies or moves a node, with its descendants if <see cref="StoreTransfer.IsDeep"/>.</summary>
    public StoreAnswer Transfer(string from, StoreTransfer transfer, bool isMove) => Change(nodes =>
    {
        var to = ((WritableFolder)transfer.Collection).Key + "/" + transfer.Name;
        if (!nodes.ContainsKey(from))
            return (nodes, StoreAnswer.NotFound);
        var existed = nodes.ContainsKey(to);
        if (existed && !transfer.MayReplace)
            return (nodes, StoreAnswer.AlreadyExists);

        IEnumerable<string> taken = transfer.IsDeep ? Tree(nodes, from) : [from];
        var copies = taken.Select(key => KeyValuePair.Create(to + key[from.Length..], nodes[key])).ToList();
        var rest = nodes.RemoveRange(Tree(nodes, to));
        if (isMove)
            rest = rest.RemoveRange(Tree(nodes, from));
        return (rest.SetItems(copies), existed ? StoreAnswer.Done : StoreAnswer.Created);
    });

    /// <summary>Changes the stored properties of a node.</summary>
    public StoreAnswer ChangeProperties(string key, IReadOnlyList<PropertyChange> changes) => Change(nodes =>
    {
        if (!nodes.TryGetValue(key, out var node))
            return (nodes, StoreAnswer.NotFound);
        return StoredProperties.Apply(node.Stored, changes) is { } stored
            ? (nodes.SetItem(key, node with { Stored = stored }), StoreAnswer.Done)
            : (nodes, StoreAnswer.TooLarge);
    });

    private static List<string> Tree(ImmutableSortedDictionary<string, WritableNode> nodes, string key) =>
        [.. nodes.Keys.Where(other => other == key || other.StartsWith(key + "/", StringComparison.Ordinal))];

    private IStoreItem Show(string key, WritableNode node) =>
        node.Content is null ? new WritableFolder(this, key, node) : new WritableFile(this, key, node);

    private StoreAnswer Change(
        Func<ImmutableSortedDictionary<string, WritableNode>, (ImmutableSortedDictionary<string, WritableNode> Nodes, StoreAnswer Answer)> change)
    {
        while (true)
        {
            var before = Nodes;
            (var after, var answer) = change(before);
            if (ReferenceEquals(Interlocked.CompareExchange(ref _nodes, after, before), before))
                return answer;
        }
    }
}

/// <summary>A file or folder of the tree.</summary>
/// <param name="Content">The bytes of a file; null for a folder.</param>
/// <param name="Modified">Time of the last change.</param>
/// <param name="Stored">Properties stored by clients.</param>
internal sealed record WritableNode(byte[]? Content, DateTimeOffset Modified, IReadOnlyList<StoredProperty> Stored);
