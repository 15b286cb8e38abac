using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Playbacks;

/// <summary>The reason for which a playback waits.</summary>
internal enum WaitReason
{
    /// <summary>The playback does not wait.</summary>
    None,

    /// <summary>All connections are in use.</summary>
    ProviderSlots,

    /// <summary>Providers send data more slowly than the client reads it.</summary>
    ProviderSlow,

    /// <summary>No provider can be reached.</summary>
    ProviderDown,

    LineFull,

    /// <summary>The bandwidth limit delays the playback.</summary>
    Limit,

    /// <summary>Other streams occupy the memory.</summary>
    OtherStreams,

    /// <summary>An article is late, missing or damaged and is being requested again.</summary>
    ArticleRetry,

    /// <summary>The processor is busy.</summary>
    Cpu,

    /// <summary>The client reads slowly. The server is not at fault.</summary>
    PlayerSlow,
}

/// <summary>The reason for a wait, with a number that supports it.</summary>
/// <param name="Value">The number; null if none.</param>
/// <param name="Unit">The unit: <c>connections</c>, <c>bytes-per-second</c>, <c>ms</c>, <c>percent</c> or <c>streams</c>; null without a number.</param>
internal sealed record StreamWait(WaitReason Reason, double? Value, string? Unit, DateTimeOffset Since);

/// <summary>Collects facts about a playback, from which <see cref="WaitPolicy"/> decides why it waits. Thread-safe.</summary>
internal sealed class PlaybackWaits(ThroughputSampler sampler, TimeProvider time)
{
    // Count a wait that ended a moment ago too, because the limiter releases one command after another.
    private static readonly TimeSpan PacedRecently = TimeSpan.FromSeconds(1);

    /// <summary>Returns the reason for which a playback waits right now.</summary>
    public StreamWait Of(PlaybackSnapshot seen, FetchingSnapshot fetching)
    {
        // The reader waits for the first segment that has not arrived.
        var lacking = (seen.Stream?.Slots ?? []).Where(static slot => !slot.IsReady).Cast<SlotSnapshot?>().FirstOrDefault();
        var fetch = lacking?.Fetch;
        var (reason, value, unit) = WaitPolicy.Decide(new WaitFacts
        {
            IsOpen = seen.Open > 0,
            Waiting = seen.Waiting,
            WaitedShare = seen.WaitedShare,
            ClientIdle = seen.ClientIdle,
            Stage = fetch?.Stage,
            IsRepeated = lacking?.IsRepeated == true || fetch?.IsLate == true,
            Asked = fetch is { AskedAt: > 0 } asked ? time.GetElapsedTime(asked.AskedAt) : seen.Waiting,
            Providers = fetching.Providers,
            Reachable = fetching.Reachable,
            OpenConnections = fetching.Open,
            UsedConnections = fetching.Used,
            IsPaced = fetching.Limit > 0 && fetching.SincePaced < PacedRecently,
            Limit = fetching.Limit,
            IsLineFull = fetching.IsLineFull,
            Received = sampler.Now.FromProviders,
            IsCrowded = seen.Stream?.IsCrowded == true,
            Streams = seen.Stream?.Streams ?? 0,
            ProcessorPercent = sampler.ProcessorPercent,
        });
        var since = reason == WaitReason.PlayerSlow || seen.Waiting == TimeSpan.Zero ? seen.LastReadAt : time.WallTime() - seen.Waiting;
        return new StreamWait(reason, value, unit, since);
    }
}

/// <summary>Facts about a playback at one moment.</summary>
internal readonly record struct WaitFacts
{
    public bool IsOpen { get; init; }

    /// <summary>How long the current read has waited for bytes; zero if none waits.</summary>
    public TimeSpan Waiting { get; init; }

    /// <summary>Fraction of the last second in which reads waited, 0 to 1.</summary>
    public double WaitedShare { get; init; }

    /// <summary>How long the client has requested nothing.</summary>
    public TimeSpan ClientIdle { get; init; }

    /// <summary>Progress of the fetch of the first missing segment; null if none is missing.</summary>
    public FetchStage? Stage { get; init; }

    /// <summary>Whether that segment is late or was requested before.</summary>
    public bool IsRepeated { get; init; }

    /// <summary>Time since that segment was requested.</summary>
    public TimeSpan Asked { get; init; }

    /// <summary>Enabled providers; 0 if the articles are built into the server.</summary>
    public int Providers { get; init; }

    /// <summary>Providers that are not known to be unreachable.</summary>
    public int Reachable { get; init; }

    /// <summary>Connections that accept commands.</summary>
    public int OpenConnections { get; init; }

    /// <summary>Connections that wait for a reply.</summary>
    public int UsedConnections { get; init; }

    /// <summary>Whether a playback fetch has recently waited for the bandwidth limit.</summary>
    public bool IsPaced { get; init; }

    /// <summary>The bandwidth limit in bytes per second.</summary>
    public long Limit { get; init; }

    /// <summary>Whether the line is saturated, so that further requests would only queue.</summary>
    public bool IsLineFull { get; init; }

    /// <summary>Bytes per second from all providers.</summary>
    public long Received { get; init; }

    /// <summary>Whether the playback would buffer more if other streams did not occupy the memory.</summary>
    public bool IsCrowded { get; init; }

    /// <summary>Streams that share the memory.</summary>
    public int Streams { get; init; }

    /// <summary>CPU usage of this process in percent of all cores.</summary>
    public double ProcessorPercent { get; init; }
}

/// <summary>Decides why a playback waits. Causes that block everything come first, and causes that only slow it down come last. Pure.</summary>
internal static class WaitPolicy
{
    // A shorter wait is normal, because the reader has just reached its next article.
    private static readonly TimeSpan LeastWait = TimeSpan.FromMilliseconds(250);
    private const double MostOfTheTime = 0.5;

    // A shorter pause is normal, because players read in portions.
    private static readonly TimeSpan LeastIdle = TimeSpan.FromSeconds(1);

    private const double BusyPercent = 90;

    /// <summary>Returns the reason and its supporting number with unit; null without a number.</summary>
    public static (WaitReason Reason, double? Value, string? Unit) Decide(in WaitFacts facts)
    {
        if (!facts.IsOpen)
            return (WaitReason.None, null, null);
        if (facts.Waiting < LeastWait && facts.WaitedShare < MostOfTheTime)
            return facts.ClientIdle >= LeastIdle ? (WaitReason.PlayerSlow, facts.ClientIdle.TotalMilliseconds, "ms") : (WaitReason.None, null, null);
        if (IsDown(facts))
            return (WaitReason.ProviderDown, null, null);
        if (facts.IsPaced)
            return (WaitReason.Limit, facts.Limit, "bytes-per-second");
        if (facts.ProcessorPercent >= BusyPercent)
            return (WaitReason.Cpu, facts.ProcessorPercent, "percent");
        if (facts.IsRepeated)
            return (WaitReason.ArticleRetry, facts.Asked.TotalMilliseconds, "ms");
        if (facts is { Stage: FetchStage.WaitsForConnection, OpenConnections: > 0 })
            return (WaitReason.ProviderSlots, facts.UsedConnections, "connections");
        if (facts.IsLineFull)
            return (WaitReason.LineFull, facts.Received, "bytes-per-second");
        if (facts.IsCrowded)
            return (WaitReason.OtherStreams, facts.Streams, "streams");
        return facts.Stage is null ? (WaitReason.None, null, null) : (WaitReason.ProviderSlow, facts.Asked.TotalMilliseconds, "ms");
    }

    /// <summary>Whether no provider is usable: all have failed, or no connection is open and the next attempt is delayed.</summary>
    private static bool IsDown(in WaitFacts facts) =>
        facts.Providers > 0 && (facts.Reachable == 0 || facts is { OpenConnections: 0, IsRepeated: true, Stage: null or FetchStage.Deciding });
}
