using Sluice.Usenet.Nntp.Health;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>
/// Chooses the next provider: pooled ones before backups, then by ascending priority number, then by backlog or by the order
/// of the settings. Providers in cooldown, or whose dials get no response, come last.
/// </summary>
internal static class ProviderSelector
{
    /// <summary>Chooses among the providers not asked yet; null if none is left.</summary>
    /// <param name="providers">All providers of the pool, by index.</param>
    /// <param name="asked">Providers already asked, excluded by the request, or withheld because of their data caps.</param>
    /// <param name="missedBackbones">Backbones known to miss the article, or null.</param>
    /// <param name="mayProbe">Whether this fetch may test a provider whose bodies failed.</param>
    /// <param name="behind">Providers that lack much of the release, and therefore come after others of their kind.</param>
    /// <param name="forStat">Whether the request is a STAT rather than a BODY.</param>
    public static Provider? Next(IReadOnlyList<Provider> providers, ProviderSet asked, HashSet<string>? missedBackbones, bool mayProbe = true, ProviderSet behind = default, bool forStat = false)
    {
        Provider? best = null;
        (bool, ProviderKind, bool, int, double) bestRank = default;
        // A loop by index, because an enumerator would allocate for every article.
        for (var i = 0; i < providers.Count; i++)
        {
            var provider = providers[i];
            if (asked.Contains(provider.Index) || provider.Options.Kind == ProviderKind.Disabled)
                continue;
            if (missedBackbones?.Contains(provider.Options.Backbone) == true)
                continue;

            var rank = (IsResting(provider, mayProbe, forStat), provider.Options.Kind, behind.Contains(provider.Index), provider.Options.Priority, provider.Precedence);
            if (best is null || rank.CompareTo(bestRank) < 0)
                (best, bestRank) = (provider, rank);
        }

        return best;
    }

    /// <summary>Chooses the provider for a hedge: another reachable one of no lesser kind, or else the late one again. Null if neither can serve.</summary>
    /// <param name="asked">Providers already asked or being asked, excluded by the request, or withheld.</param>
    /// <param name="late">The provider of the late attempt.</param>
    /// <param name="isSent">Whether the late attempt's command was sent. If not, its provider's other connections are no better.</param>
    public static Provider? Rival(IReadOnlyList<Provider> providers, ProviderSet asked, HashSet<string>? missedBackbones, Provider late, bool isSent)
    {
        var other = Next(providers, asked, missedBackbones);
        if (other is not null && other.Options.Kind <= late.Options.Kind && !IsResting(other, mayProbe: false))
            return other;
        return isSent && late.Options.MaxConnections > 1 && !IsResting(late, mayProbe: false) ? late : null;
    }

    /// <summary>Whether a provider is unreachable or in cooldown, unless this fetch may probe it.</summary>
    public static bool IsResting(Provider provider, bool mayProbe, bool forStat = false)
    {
        var breaker = BreakerOf(provider, forStat);
        return provider.Pool.IsOutOfReach || (breaker.State != BreakerState.Closed && (!mayProbe || breaker.Rest > TimeSpan.Zero));
    }

    /// <summary>Returns the failure because of which a provider is skipped while another one responds; null if the provider may be asked.</summary>
    /// <param name="withheld">Providers that cannot replace it, because their data caps forbid it.</param>
    public static NntpException? MustSpare(IReadOnlyList<Provider> providers, Provider provider, ProviderSet withheld, bool forStat = false)
    {
        if (BreakerOf(provider, forStat).Failure is not { } failure)
            return null;
        foreach (var other in providers)
        {
            if (other != provider && !withheld.Contains(other.Index) && other.Options.Kind != ProviderKind.Disabled && !IsResting(other, mayProbe: false, forStat))
                return failure.BeforeAsked();
        }

        return null;
    }

    /// <summary>
    /// Returns the providers withheld from a fetch because of their data caps (HLT-102): all without data for the article, and, while another provider may have
    /// the article, also all in their reserve. For imports, each capped account counts as in its reserve (HLT-104); checks fetch no bodies from capped accounts.
    /// </summary>
    /// <param name="outside">Providers that the request excludes from the start.</param>
    /// <param name="walk">The replies so far; null if there are none.</param>
    public static ProviderSet Withheld(IReadOnlyList<Provider> providers, in ArticleRequest request, ProviderSet outside, ProviderWalk? walk)
    {
        var (spent, filling, othersMayHaveIt) = (default(ProviderSet), default(ProviderSet), false);
        for (var i = 0; i < providers.Count; i++)
        {
            var provider = providers[i];
            if (outside.Contains(provider.Index) || provider.Options.Kind == ProviderKind.Disabled)
                continue;
            switch (StateFor(provider, request))
            {
                case QuotaState.Spent:
                    spent = spent.With(provider.Index);
                    break;
                case QuotaState.FillOnly:
                    filling = filling.With(provider.Index);
                    break;
                default:
                    othersMayHaveIt |= walk?.HasMissed(provider) != true;
                    break;
            }
        }

        return othersMayHaveIt ? spent.Or(filling) : spent;
    }

    private static QuotaState StateFor(Provider provider, in ArticleRequest request)
    {
        if (provider.Pool.Quota is not { IsCapped: true } quota)
            return QuotaState.Free;
        if (request.Lane == OperationLane.HealthCheck)
            return QuotaState.Spent;
        var state = quota.StateFor(request);
        return state == QuotaState.Free && request.Lane == OperationLane.Import ? QuotaState.FillOnly : state;
    }

    private static CircuitBreaker BreakerOf(Provider provider, bool forStat) =>
        forStat ? provider.Pool.Health.Stats : provider.Pool.Health.Bodies;
}
