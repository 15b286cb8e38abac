namespace Sluice.Server.WebDav;

/// <summary>Handles one verb, or two verbs that differ only in the body. Thread-safe, because one instance serves all requests.</summary>
internal interface IRequestHandler
{
    IReadOnlyList<string> Verbs { get; }

    /// <summary>Responds to a request. May throw store exceptions, because the dispatcher maps them to a status or resets the connection.</summary>
    Task HandleAsync(DavRequest request);
}

/// <summary>A request whose path has been resolved.</summary>
/// <param name="Item">The item at the path; null only for verbs that do not need one.</param>
internal sealed record DavRequest(HttpContext Http, DavPath Path, PathClass Class, IStoreItem? Item)
{
    public CancellationToken Aborted => Http.RequestAborted;

    public IStoreItem ExistingItem => Item ?? throw new InvalidOperationException("This verb is served only where an item exists.");
}
