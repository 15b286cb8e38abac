using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp;

/// <summary>What is asked of an <see cref="IArticleSource"/>.</summary>
/// <param name="Id">The article; never empty.</param>
/// <param name="Lane">Why it is fetched.</param>
/// <param name="Urgency">Which reader waits for it and whether right now; null where none does, or all equally.</param>
/// <param name="ExpectedBytes">Encoded size of the body in bytes as far as known, else 0. A hint for choosing a connection.</param>
/// <param name="Excluded">Providers that must not be asked, because their copy is known to be bad.</param>
public readonly record struct ArticleRequest(
    MessageId Id,
    OperationLane Lane,
    FetchUrgency? Urgency = null,
    long ExpectedBytes = 0,
    ProviderSet Excluded = default)
{
    /// <summary>
    /// What the article belongs to, equal for all that was posted together: providers that lack much of it are asked last. Null
    /// where that is not known.
    /// </summary>
    public object? Release { get; init; }

    /// <summary>
    /// Whether what follows a delivery is short and takes no lock that a fetch could be waiting for: then it may run in the read loop
    /// of the connection, which saves the way to another thread.
    /// </summary>
    public bool ContinuesInline { get; init; }

    /// <summary>
    /// The connections over which damaged or doubtful copies have come, as <see cref="ArticleReply.Connection"/> names them: the next copy
    /// comes over another one wherever one can be had. Null for none.
    /// </summary>
    public IReadOnlyCollection<object>? Avoided { get; init; }

    /// <summary>Whether backup providers are never asked, which may cost what their owner keeps for a viewer.</summary>
    public bool SparesBackups { get; init; }

    /// <summary>Whether it is asked for again because it did not come where it was asked for: it overtakes what is fetched ahead.</summary>
    internal bool IsLate { get; init; }

    /// <summary>Whether nothing else may be outstanding on its connection, so that the answer can belong to no other command.</summary>
    internal bool IsAlone { get; init; }

    /// <summary>Whether a reader or an import waits for it right now. An import waits for all that it asks for.</summary>
    internal bool IsAwaited => Urgency?.IsHeadOfLine ?? Lane != OperationLane.HealthCheck;

    /// <summary>STAT commands that go out in place of one BODY; 0 for a body.</summary>
    internal int Stats { get; init; }

    /// <summary>Whether it is to show that a provider answers again: one now and then, which nothing may hold up.</summary>
    internal bool IsProbe { get; init; }

    /// <summary>Whether it counts towards the limit of bandwidth without ever waiting for it.</summary>
    internal bool GoesUnpaced => Stats > 0 || IsProbe;
}
