namespace Sluice.Server.WebDav;

/// <summary>
/// The tree behind the handlers. They use only this interface, so that tests can serve another store (DAV-93). Thread-safe. Any call may throw
/// <see cref="StoreUnavailableException"/>.
/// </summary>
internal interface IStore
{
    /// <summary>The verb table: every row that <see cref="Classify"/> can return (DAV-92).</summary>
    IReadOnlyList<PathClass> Classes { get; }

    /// <summary>Returns the item at a path, or null. Names match case-sensitively in NFC.</summary>
    ValueTask<IStoreItem?> FindAsync(DavPath path, CancellationToken cancellationToken);

    /// <summary>
    /// Returns the verb table row for a path and its item, if any. Null if the path is reserved for the UI or an API; the tree then responds with 404.
    /// </summary>
    PathClass? Classify(DavPath path, IStoreItem? item);

    /// <summary>Returns the canonical names of a path. Locks use them, because an item may have several paths.</summary>
    IReadOnlyList<string> Canonicalize(DavPath path) => path.Segments;
}

/// <summary>The tree cannot be read. Every path then responds with 503, because no client may mistake this for an empty library (DAV-6).</summary>
internal sealed class StoreUnavailableException : Exception
{
    /// <summary>Creates the exception. <paramref name="message"/> is one sentence for an operator.</summary>
    public StoreUnavailableException(string message, Exception? inner = null)
        : base(message, inner)
    {
    }
}
