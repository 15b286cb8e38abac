using System.Globalization;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;

namespace Sluice.Server.AdminApi;

/// <summary>What values that leave the choice to the server amount to at the moment.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class EffectiveValues(DataFolder folder, ProviderHost providers, IOptionsMonitor<UsenetOptions> usenet)
{
    private const long MiB = 1 << 20;

    /// <summary>The choice of the server; null where the value says all.</summary>
    public string? Of(EffectiveSetting setting) => (setting.Definition.Key, setting.Value) switch
    {
        ("usenet.max-download-connections", "0") => Text(providers.Providers
            .Where(provider => provider.Options.Kind == ProviderKind.Pooled).Sum(provider => (long)provider.Options.MaxConnections)),
        ("usenet.in-flight-article-budget-mb", _) => Text(Budget / MiB),
        ("usenet.max-streams", "0") => Text(new StreamOptions { ByteBudget = Budget }.MaxStreams),
        ("usenet.segment-cache.path", "") => folder.Segments,
        _ => null,
    };

    private long Budget => usenet.CurrentValue.ArticleBudgetWithin(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes);

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);
}
