namespace Sluice.Usenet.Nntp;

/// <summary>
/// Decides which provider is asked next: pooled ones before backups, lower priority numbers first, among equals the one that
/// would be through first; one that cannot be reached comes after all that can.
/// </summary>
internal static class ProviderSelector
{
    /// <summary>Chooses among the providers that have not been asked.</summary>
    /// <param name="providers">All of the pool, by index.</param>
    /// <param name="asked">Those that have answered, failed or are excluded.</param>
    /// <param name="missedBackbones">Backbones on which the article is known to be missing; null for none.</param>
    /// <returns>Null when there is none left.</returns>
    public static Provider? Next(IReadOnlyList<Provider> providers, ProviderSet asked, HashSet<string>? missedBackbones)
    {
        Provider? best = null;
        (bool, ProviderKind, int, double) bestRank = default;
        foreach (var provider in providers)
        {
            if (asked.Contains(provider.Index) || provider.Options.Kind == ProviderKind.Disabled)
                continue;
            if (missedBackbones?.Contains(provider.Options.Backbone) == true)
                continue;

            var rank = (provider.Pool.Health.Resting is not null, provider.Options.Kind, provider.Options.Priority, provider.Pool.Backlog);
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
        if (other is not null && other.Options.Kind <= late.Options.Kind && other.Pool.Health.Resting is null)
            return other;
        return isSent && late.Options.MaxConnections > 1 && late.Pool.Health.Resting is null ? late : null;
    }
}
