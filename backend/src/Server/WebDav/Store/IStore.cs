namespace Sluice.Server.WebDav;

/// <summary>
/// The tree behind the verbs. The handlers know it through this seam and nothing else, so that a test store and the product are
/// served by the same code (DAV-93). Thread-safe. Any call may throw <see cref="StoreUnavailableException"/>.
/// </summary>
internal interface IStore
{
    /// <summary>The table of verbs: every row that <see cref="Classify"/> can return (DAV-92).</summary>
    IReadOnlyList<PathClass> Classes { get; }

    /// <summary>The item at a path, or null where there is none. Names are compared case-sensitively, as NFC.</summary>
    ValueTask<IStoreItem?> FindAsync(DavPath path, CancellationToken cancellationToken);

    /// <summary>
    /// What a path answers to each verb. Null where the path is reserved for the UI or an API and the tree answers 404 to every verb.
    /// </summary>
    /// <param name="path">The path.</param>
    /// <param name="item">The item found there, or null.</param>
    PathClass? Classify(DavPath path, IStoreItem? item);

    /// <summary>The names by which locks know a path: all paths of one item give the same.</summary>
    IReadOnlyList<string> Canonicalize(DavPath path) => path.Segments;
}

/// <summary>
/// The tree cannot be read at present. The answer is 503 whatever the path, so that no client takes the library for empty (DAV-6).
/// </summary>
internal sealed class StoreUnavailableException : Exception
{
    /// <summary>Creates the exception.</summary>
    /// <param name="message">One sentence for an operator.</param>
    /// <param name="inner">What went wrong.</param>
    public StoreUnavailableException(string message, Exception? inner = null)
        : base(message, inner)
    {
    }
}
