namespace Sluice.Tools.MockNntpServer.Faults;

/// <summary>
/// One fault: what, where and how often. Placement is a pure function of seed, provider and article (or connection), so
/// the same run meets the same faults. Immutable; the same instance keeps its count when settings change.
/// </summary>
public sealed record MockFault
{
    /// <summary>What goes wrong.</summary>
    public required FaultKind Kind { get; init; }

    /// <summary>Provider from 0; null: at each.</summary>
    public int? Provider { get; init; }

    /// <summary>Connection of the provider in the order of acceptance, from 1; null: at each.</summary>
    public int? Connection { get; init; }

    /// <summary>Articles concerned, for faults that have to do with articles; null: all.</summary>
    public ArticleSelection? Articles { get; init; }

    /// <summary>
    /// Command concerned; null: STAT, HEAD, BODY and ARTICLE, and for kinds of the command group that have nothing to do with articles DATE
    /// and QUIT too; for the auth group AUTHINFO PASS.
    /// </summary>
    public string? Verb { get; init; }

    /// <summary>Share of the cases, 0 to 1, placed by the seed.</summary>
    public double Rate { get; init; } = 1;

    /// <summary>
    /// Most hits in all; 0: no limit, and every try of an article; null: no limit, and <see cref="Tries"/> as the kind has it.
    /// </summary>
    public int? Count { get; init; }

    /// <summary>
    /// First tries of an article at a provider that are hit; 0: all. Null: 1 for <c>body.fin</c> and <c>body.rst</c> unless
    /// <see cref="Count"/> is given, all for every other kind.
    /// </summary>
    public int? Tries { get; init; }

    /// <summary>Place in the body, in bytes of the wire behind the status line; null: its middle.</summary>
    public int? Offset { get; init; }

    /// <summary>How much, for kinds that limit: connections or bytes per second; null: as the kind has it.</summary>
    public int? Limit { get; init; }

    /// <summary>How long, for kinds that last; null: as the kind has it.</summary>
    public TimeSpan? Duration { get; init; }

    /// <summary>
    /// The line that is sent in place of the kind's own, for kinds of the greeting and auth groups that are one: <c>481 Account expired</c>,
    /// <c>220 mail.example.com ESMTP</c>; null: as the kind has it.
    /// </summary>
    public string? Text { get; init; }

    /// <summary>Whether a stalled body is closed after its pause, or else continued.</summary>
    public bool CloseAfterStall { get; init; } = true;

    /// <summary>Begins this long after the mock's start.</summary>
    public TimeSpan? After { get; init; }

    /// <summary>Ends this long after the mock's start.</summary>
    public TimeSpan? Until { get; init; }

    /// <summary>Placed by the article alone, so that it is the same at every provider.</summary>
    public bool Everywhere { get; init; }

    internal int EffectiveTries => Tries ?? (Count is null && Kind is FaultKind.BodyFin or FaultKind.BodyReset ? 1 : 0);
}
