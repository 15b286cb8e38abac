using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp;

/// <summary>A request to an <see cref="IArticleSource"/>.</summary>
/// <param name="Id">The article; never empty.</param>
/// <param name="Urgency">The article's reader and whether that reader waits now; null if there is no reader, or if all requests are equally urgent.</param>
/// <param name="ExpectedBytes">Encoded size of the body in bytes, or 0 if unknown; a hint for choosing a connection.</param>
/// <param name="Excluded">Providers that must not be asked, because their copy is known to be bad.</param>
public readonly record struct ArticleRequest(
    MessageId Id,
    OperationLane Lane,
    FetchUrgency? Urgency = null,
    long ExpectedBytes = 0,
    ProviderSet Excluded = default)
{
    /// <summary>The article size assumed if unknown.</summary>
    internal const long UsualBytes = 750 * 1024;

    /// <summary>The largest believed article size, whatever an NZB states.</summary>
    internal const long MostLikelyBytes = 2 << 20;

    /// <summary>Key of the article's release; null if unknown. Providers that lack much of a release are asked last.</summary>
    public object? Release { get; init; }

    /// <summary>Whether a delivery's continuation is short and takes no fetch's lock, so that it can run in the read loop without a thread switch.</summary>
    public bool ContinuesInline { get; init; }

    /// <summary>Connections (<see cref="ArticleReply.Connection"/>) that delivered bad or doubtful copies, and that this fetch avoids. May be null.</summary>
    public IReadOnlyCollection<object>? Avoided { get; init; }

    /// <summary>Whether backups and accounts with a data cap are skipped, because the user reserves their traffic for viewers.</summary>
    public bool SparesBackups { get; init; }

    /// <summary>Whether this is a hedge or a retry, which overtakes prefetches.</summary>
    internal bool IsLate { get; init; }

    /// <summary>Whether the request requires an exclusive connection, so that the reply cannot belong to another command.</summary>
    internal bool IsAlone { get; init; }

    /// <summary>Whether a reader or an import waits for the article now. An import waits for all its articles.</summary>
    internal bool IsAwaited => Urgency?.IsHeadOfLine ?? Lane != OperationLane.HealthCheck;

    /// <summary>Number of STAT commands sent instead of one BODY; 0 for a body.</summary>
    internal int Stats { get; init; }

    /// <summary>Expected bytes of the reply, for limits with a charge in advance.</summary>
    internal long LikelyBytes => ExpectedBytes > 0 ? Math.Min(ExpectedBytes, MostLikelyBytes) : UsualBytes;

    /// <summary>Whether the request tests if a provider responds again. Such requests are rare, so nothing may delay them.</summary>
    internal bool IsProbe { get; init; }

    /// <summary>Whether the request counts toward the bandwidth limit but never waits for it.</summary>
    internal bool GoesUnpaced => Stats > 0 || IsProbe;
}
