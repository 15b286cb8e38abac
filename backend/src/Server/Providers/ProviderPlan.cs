using System.Globalization;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Providers;

/// <summary>All fetch settings as engine options. Equal plans need no new connections.</summary>
internal sealed record ProviderPlan(
    IReadOnlyList<ProviderOptions> Providers, NntpOptions Nntp, int Connections, int StreamingPriority, int QueueConnections, StreamOptions Streams)
{
    /// <summary>Whether any provider is enabled.</summary>
    public bool HasProviders => Providers.Any(provider => provider.Kind != ProviderKind.Disabled);

    /// <summary>Converts the settings. <paramref name="availableMemory"/> is in bytes. Returns one warning per omitted provider.</summary>
    public static ProviderPlan From(UsenetOptions usenet, StreamingOptions streaming, long availableMemory, out IReadOnlyList<string> warnings) => new(
        ProviderJson.Read(usenet.Providers, out warnings),
        new NntpOptions
        {
            ConnectTimeout = usenet.ConnectTimeout,
            LoginTimeout = usenet.LoginTimeout,
            PlaybackStall = usenet.StreamingStall,
            BackgroundStall = usenet.BackgroundStall,
            IdleTimeout = usenet.IdleConnectionTimeout,
            RetriesPerProvider = usenet.StreamingSegmentRetries,
            HedgeEnabled = usenet.HedgeEnabled,
            HedgeFloor = usenet.HedgeFloor,
            KeepsWarm = usenet.KeepsWarm,
            WarmFloor = usenet.WarmFloor,
            PlaybackDepth = usenet.StreamingDepth,
            BackgroundDepth = usenet.QueueDepth,
            KeepsOrder = usenet.Cascade,
        },
        usenet.MaxDownloadConnections,
        usenet.StreamingPriority,
        usenet.MaxQueueConnections,
        new StreamOptions
        {
            ByteBudget = usenet.ArticleBudgetWithin(availableMemory),
            ReadAhead = usenet.ReadAheadBytes,
            WantedStreams = usenet.MaxStreams > 0 ? usenet.MaxStreams : null,
            VerifyBeforeServe = streaming.VerifyBeforeServe,
            ChecksCrc = usenet.ChecksCrc,
            SharesSegments = usenet.SharesSegments,
        });

    public bool Equals(ProviderPlan? other) =>
        other is not null
        && Providers.SequenceEqual(other.Providers)
        && (Nntp, Connections, StreamingPriority, QueueConnections, Streams)
            == (other.Nntp, other.Connections, other.StreamingPriority, other.QueueConnections, other.Streams);

    public override int GetHashCode() => HashCode.Combine(Providers.Count, Nntp, Connections, StreamingPriority, QueueConnections, Streams);
}

/// <summary>Resolves settings whose value the server chooses.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class EffectiveValues(DataFolder folder, ProviderHost providers, IOptionsMonitor<UsenetOptions> usenet)
{
    private const long MiB = 1 << 20;

    /// <summary>Returns the value that the server has chosen; null if the setting states the value.</summary>
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
