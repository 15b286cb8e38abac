using Sluice.Usenet.Nntp.Health;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>
/// Decides which provider is asked next: pooled ones before backups, lower priority numbers first, among equals the one that
/// would be through first or stands first, as the settings say; one that cannot be reached, or does not answer a dial for long, comes after
/// all that can.
/// </summary>
internal static class ProviderSelector
{
    /// <summary>Chooses among the providers that have not been asked.</summary>
    /// <param name="providers">All of the pool, by index.</param>
    /// <param name="asked">Those that have answered, failed or are excluded.</param>
    /// <param name="missedBackbones">Backbones on which the article is known to be missing; null for none.</param>
    /// <param name="mayProbe">Whether the fetch may be the one that tries a provider whose bodies have failed.</param>
    /// <param name="behind">Those that lack much of the release, and so come after others of their kind.</param>
    /// <param name="forStat">Whether it is asked about articles and not for them.</param>
    /// <returns>Null when there is none left.</returns>
    public static Provider? Next(IReadOnlyList<Provider> providers, ProviderSet asked, HashSet<string>? missedBackbones, bool mayProbe = true, ProviderSet behind = default, bool forStat = false)
    {
        Provider? best = null;
        (bool, ProviderKind, bool, int, double) bestRank = default;
        // By index: an enumerator would be an object for every article.
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

    /// <summary>
    /// Chooses where an article is asked for a second time while a try is late: another provider that can be reached and is no
    /// lesser choice by its kind, else another connection of the same one.
    /// </summary>
    /// <param name="providers">All of the pool, by index.</param>
    /// <param name="asked">Those that have answered, failed, are being asked or are excluded.</param>
    /// <param name="missedBackbones">Backbones on which the article is known to be missing; null for none.</param>
    /// <param name="late">The one that is being asked.</param>
    /// <param name="isSent">Whether its command has been sent; if not, none of its connections is any better.</param>
    /// <returns>Null when there is none.</returns>
    public static Provider? Rival(IReadOnlyList<Provider> providers, ProviderSet asked, HashSet<string>? missedBackbones, Provider late, bool isSent)
    {
        var other = Next(providers, asked, missedBackbones);
        if (other is not null && other.Options.Kind <= late.Options.Kind && !IsResting(other, mayProbe: false))
            return other;
        return isSent && late.Options.MaxConnections > 1 && !IsResting(late, mayProbe: false) ? late : null;
    }

    /// <summary>Whether a provider is left alone for now.</summary>
    /// <param name="provider">Any of the pool.</param>
    /// <param name="mayProbe">Whether the fetch may be the one that tries it.</param>
    /// <param name="forStat">Whether it is asked about articles and not for them.</param>
    public static bool IsResting(Provider provider, bool mayProbe, bool forStat = false)
    {
        var breaker = BreakerOf(provider, forStat);
        return provider.Pool.IsOutOfReach || (breaker.State != BreakerState.Closed && (!mayProbe || breaker.Rest > TimeSpan.Zero));
    }

    /// <summary>Why a provider is not asked although it is its turn: its replies fail, and there are others that answer. Null when it is asked.</summary>
    public static NntpException? MustSpare(IReadOnlyList<Provider> providers, Provider provider, bool forStat = false)
    {
        if (BreakerOf(provider, forStat).Failure is not { } failure)
            return null;
        foreach (var other in providers)
        {
            if (other != provider && other.Options.Kind != ProviderKind.Disabled && !IsResting(other, mayProbe: false, forStat))
                return failure.BeforeAsked();
        }

        return null;
    }

    private static CircuitBreaker BreakerOf(Provider provider, bool forStat) =>
        forStat ? provider.Pool.Health.Stats : provider.Pool.Health.Bodies;
}
