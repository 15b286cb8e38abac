using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Providers;

/// <summary>Everything that the settings say about fetching, in the engine's words. Equal plans need no new connections.</summary>
internal sealed record ProviderPlan(
    IReadOnlyList<ProviderOptions> Providers, NntpOptions Nntp, int Connections, int StreamingPriority, int QueueConnections, StreamOptions Streams)
{
    /// <summary>Whether any provider may be asked.</summary>
    public bool HasProviders => Providers.Any(provider => provider.Kind != ProviderKind.Disabled);

    /// <summary>Turns the settings into a plan.</summary>
    /// <param name="usenet">Providers and limits.</param>
    /// <param name="streaming">How bytes are let out.</param>
    /// <param name="availableMemory">Memory of the machine or the container, in bytes.</param>
    /// <param name="warnings">Elements that had to be left out.</param>
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

    /// <inheritdoc/>
    public bool Equals(ProviderPlan? other) =>
        other is not null
        && Providers.SequenceEqual(other.Providers)
        && (Nntp, Connections, StreamingPriority, QueueConnections, Streams)
            == (other.Nntp, other.Connections, other.StreamingPriority, other.QueueConnections, other.Streams);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(Providers.Count, Nntp, Connections, StreamingPriority, QueueConnections, Streams);
}
