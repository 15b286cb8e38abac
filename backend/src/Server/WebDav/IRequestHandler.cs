namespace Sluice.Server.WebDav;

/// <summary>Answers one verb, or two that differ in the body alone. Thread-safe: one instance serves all requests.</summary>
internal interface IRequestHandler
{
    /// <summary>The verbs it answers.</summary>
    IReadOnlyList<string> Verbs { get; }

    /// <summary>
    /// Answers a request that the table of verbs serves. Exceptions of the seam may pass through: the dispatcher turns them into
    /// answers, or resets the connection when the headers are out.
    /// </summary>
    Task HandleAsync(DavRequest request);
}

/// <summary>A request whose path has been looked up.</summary>
/// <param name="Http">Its HTTP side.</param>
/// <param name="Path">The path that it addresses.</param>
/// <param name="Class">The row of the table of verbs.</param>
/// <param name="Item">The item at the path; null only for verbs that can be answered where none exists.</param>
internal sealed record DavRequest(HttpContext Http, DavPath Path, PathClass Class, IStoreItem? Item)
{
    /// <summary>Cancelled when the client leaves.</summary>
    public CancellationToken Aborted => Http.RequestAborted;

    /// <summary>The item of a verb that is served only where one exists.</summary>
    public IStoreItem ExistingItem => Item ?? throw new InvalidOperationException("This verb is served only where an item exists.");
}
