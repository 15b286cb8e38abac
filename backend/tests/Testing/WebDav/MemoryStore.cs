using Sluice.Server.WebDav;

namespace Sluice.Testing.WebDav;

/// <summary>
/// A tree in memory, for tests of the verbs. Files are writable except below <c>/fixed</c>, where writes are refused.
/// Another endpoint owns <c>/foreign</c>. Thread-safe.
/// </summary>
internal sealed class MemoryStore : IStore
{
    /// <summary>Paths that take every verb.</summary>
    public static readonly PathClass Writable = new("writable",
        served: ["OPTIONS", "GET", "HEAD", "PROPFIND", "PUT", "DELETE"], forbidden: []);

    public static readonly PathClass Folder = new("folder", served: ["OPTIONS", "PROPFIND"], forbidden: ["DELETE"]);

    /// <summary>Paths that are read-only.</summary>
    public static readonly PathClass Fixed = new("fixed",
        served: ["OPTIONS", "GET", "HEAD", "PROPFIND"], forbidden: ["PUT", "DELETE"]);

    /// <summary>Creates an empty tree.</summary>
    public MemoryStore() => Root = new MemoryCollection("Test");

    public MemoryCollection Root { get; }

    /// <inheritdoc/>
    public IReadOnlyList<PathClass> Classes { get; } = [Writable, Folder, Fixed];

    /// <summary>If set, every lookup throws it.</summary>
    public Exception? Failure { get; set; }

    /// <summary>Number of lookups so far.</summary>
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
