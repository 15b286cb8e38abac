namespace Sluice.Server.WebDav;

/// <summary>
/// The tree behind the verbs. Handlers use only this interface, so that tests can serve another store with the same code (DAV-93). Thread-safe. Any
/// call may throw <see cref="StoreUnavailableException"/>.
/// </summary>
internal interface IStore
{
    /// <summary>The verb table: every row that <see cref="Classify"/> can return (DAV-92).</summary>
    IReadOnlyList<PathClass> Classes { get; }

    /// <summary>The item at a path, or null. Names are compared case-sensitively, in NFC.</summary>
    ValueTask<IStoreItem?> FindAsync(DavPath path, CancellationToken cancellationToken);

    /// <summary>
    /// Returns the verb table row of a path and the item found there, if any. Null if the path is reserved for the UI or an API: the tree answers
    /// 404.
    /// </summary>
    PathClass? Classify(DavPath path, IStoreItem? item);

    /// <summary>The canonical names of a path. Locks use them, because one item may have several paths.</summary>
    IReadOnlyList<string> Canonicalize(DavPath path) => path.Segments;
}

/// <summary>The tree cannot be read. Answers 503 for any path, so that no client takes the library for empty (DAV-6).</summary>
internal sealed class StoreUnavailableException : Exception
{
    /// <summary>Creates the exception; <paramref name="message"/> is one sentence for an operator.</summary>
    public StoreUnavailableException(string message, Exception? inner = null)
        : base(message, inner)
    {
    }
}
