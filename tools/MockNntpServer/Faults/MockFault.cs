namespace Sluice.Tools.MockNntpServer.Faults;

/// <summary>
/// A fault: its kind, place and frequency. Placement is a pure function of seed, provider and article (or connection), so that a run is
/// repeatable. Immutable; the same instance keeps its count when settings change.
/// </summary>
public sealed record MockFault
{
    public required FaultKind Kind { get; init; }

    /// <summary>0-based provider; null for all.</summary>
    public int? Provider { get; init; }

    /// <summary>1-based connection of the provider in order of acceptance; null for all.</summary>
    public int? Connection { get; init; }

    /// <summary>Affected articles, for faults of articles; null for all.</summary>
    public ArticleSelection? Articles { get; init; }

    /// <summary>
    /// Affected command. Null means STAT, HEAD, BODY and ARTICLE, plus DATE and QUIT for kinds of the command group that do not concern
    /// articles. For the auth group it means AUTHINFO PASS.
    /// </summary>
    public string? Verb { get; init; }

    /// <summary>Share of the cases, 0 to 1, placed by the seed so that runs are repeatable.</summary>
    public double Rate { get; init; } = 1;

    /// <summary>Maximum number of hits. 0: no limit, and every attempt of an article. Null: no limit, and the kind's default of <see cref="Tries"/>.</summary>
    public int? Count { get; init; }

    /// <summary>
    /// Number of first attempts of an article at a provider that are hit; 0 for all. Null means 1 for <c>body.fin</c> and <c>body.rst</c>
    /// unless <see cref="Count"/> is given, and all for other kinds.
    /// </summary>
    public int? Tries { get; init; }

    /// <summary>Offset in the body, in wire bytes after the status line; null for its middle.</summary>
    public int? Offset { get; init; }

    /// <summary>Limit of connections or bytes per second, for kinds that have one; null for the default.</summary>
    public int? Limit { get; init; }

    /// <summary>Duration, for kinds that have one; null for the default.</summary>
    public TimeSpan? Duration { get; init; }

    /// <summary>
    /// Replaces the kind's own line, for single-line kinds of the greeting and auth groups: <c>481 Account expired</c>, <c>220
    /// mail.example.com ESMTP</c>; null for the default.
    /// </summary>
    public string? Text { get; init; }

    /// <summary>Whether a stalled body is closed after its pause; otherwise it continues.</summary>
    public bool CloseAfterStall { get; init; } = true;

    /// <summary>Start of the fault, since the mock's start.</summary>
    public TimeSpan? After { get; init; }

    /// <summary>End of the fault, since the mock's start.</summary>
    public TimeSpan? Until { get; init; }

    /// <summary>Whether placement depends on the article alone, so that it is the same on every provider.</summary>
    public bool Everywhere { get; init; }

    internal int EffectiveTries => Tries ?? (Count is null && Kind is FaultKind.BodyFin or FaultKind.BodyReset ? 1 : 0);
}
