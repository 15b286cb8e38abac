namespace Sluice.Usenet.Nntp.Health;

/// <summary>What a provider is asked for, each with a breaker of its own.</summary>
public enum BreakerKind
{
    /// <summary>Connecting and logging in.</summary>
    Dials = 0,

    /// <summary>BODY.</summary>
    Bodies = 1,

    /// <summary>STAT.</summary>
    Stats = 2,
}

/// <summary>Where a breaker stood, so that a restart does not send the first viewer to a provider that is known to fail (F38).</summary>
/// <remarks>Immutable. Times are those of the wall; the breaker that takes it up believes them only as far as they can be.</remarks>
/// <param name="Fault">Why it is not closed; null when it is.</param>
/// <param name="OpenedAt">When it opened last.</param>
/// <param name="RestsUntil">When a probe may go through.</param>
/// <param name="Cooldown">How long it rests.</param>
/// <param name="Trips">How often it has opened of late.</param>
/// <param name="PassesLeft">Probes in a row that have to pass before it closes.</param>
public sealed record RememberedBreak(NntpFault? Fault, DateTimeOffset OpenedAt, DateTimeOffset RestsUntil, TimeSpan Cooldown, int Trips, int PassesLeft);
