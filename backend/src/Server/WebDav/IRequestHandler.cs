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
