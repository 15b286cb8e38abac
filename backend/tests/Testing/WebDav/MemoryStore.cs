using Sluice.Server.WebDav;

namespace Sluice.Testing.WebDav;

/// <summary>
/// A tree in memory, for tests of the verbs. Everything may be written but what lies below <c>/fixed</c>, whose writes are
/// refused; <c>/foreign</c> is reserved for another endpoint. Thread-safe.
/// </summary>
internal sealed class MemoryStore : IStore
{
    /// <summary>Paths that take every verb.</summary>
    public static readonly PathClass Writable = new("writable",
        served: ["OPTIONS", "GET", "HEAD", "PROPFIND", "PUT", "DELETE"], forbidden: []);

    /// <summary>Folders.</summary>
    public static readonly PathClass Folder = new("folder", served: ["OPTIONS", "PROPFIND"], forbidden: ["DELETE"]);

    /// <summary>Paths that can be read alone.</summary>
    public static readonly PathClass Fixed = new("fixed",
        served: ["OPTIONS", "GET", "HEAD", "PROPFIND"], forbidden: ["PUT", "DELETE"]);

    /// <summary>Creates a tree that holds nothing.</summary>
    public MemoryStore() => Root = new MemoryCollection("Test");

    /// <summary>The top of the tree.</summary>
    public MemoryCollection Root { get; }

    /// <inheritdoc/>
    public IReadOnlyList<PathClass> Classes { get; } = [Writable, Folder, Fixed];

    /// <summary>While set, every lookup throws it.</summary>
    public Exception? Failure { get; set; }

    /// <summary>Lookups so far.</summary>
    public int Lookups { get; private set; }

    /// <inheritdoc/>
    public ValueTask<IStoreItem?> FindAsync(DavPath path, CancellationToken cancellationToken)
    {
        Lookups++;
        if (Failure is not null)
            throw Failure;
        IStoreItem? item = Root;
        foreach (var name in path.Segments)
            item = (item as MemoryCollection)?.Child(name);
        return ValueTask.FromResult(item);
    }

    /// <inheritdoc/>
    public PathClass? Classify(DavPath path, IStoreItem? item)
    {
        if (path.Segments is ["foreign", ..])
            return null;
        if (path.Segments is ["fixed", ..] || path.IsRoot)
            return item is IStoreCollection && !path.IsRoot ? Folder : Fixed;
        return item is IStoreCollection ? Folder : Writable;
    }
}
