using Sluice.Usenet.Nntp;

namespace Sluice.Server.AdminApi;

/// <summary>What is known about a playback at the moment in which it is asked why it waits.</summary>
internal readonly record struct WaitFacts
{
    /// <summary>Whether a request is open.</summary>
    public bool IsOpen { get; init; }

    /// <summary>For how long the present read has waited for bytes; zero while none does.</summary>
    public TimeSpan Waiting { get; init; }

    /// <summary>The part of the last second in which reads have waited, 0 to 1.</summary>
    public double WaitedShare { get; init; }

    /// <summary>For how long the client has asked for nothing.</summary>
    public TimeSpan ClientIdle { get; init; }

    /// <summary>How far the fetch of the first segment is that is not there; null where there is none.</summary>
    public FetchStage? Stage { get; init; }

    /// <summary>Whether that segment is late, or was asked for before.</summary>
    public bool IsRepeated { get; init; }

    /// <summary>For how long it has been asked for.</summary>
    public TimeSpan Asked { get; init; }

    /// <summary>Providers that may be asked; 0 where the articles are built in.</summary>
    public int Providers { get; init; }

    /// <summary>Those of them that can be, as far as is known.</summary>
    public int Reachable { get; init; }

    /// <summary>Connections that take commands.</summary>
    public int OpenConnections { get; init; }

    /// <summary>Connections that owe a reply.</summary>
    public int UsedConnections { get; init; }

    /// <summary>Whether a fetch of playback has waited for the limit of bandwidth of late.</summary>
    public bool IsPaced { get; init; }

    /// <summary>That limit, in bytes per second.</summary>
    public long Limit { get; init; }

    /// <summary>Whether more that is asked for would only queue on the line.</summary>
    public bool IsLineFull { get; init; }

    /// <summary>Bytes per second that come from providers.</summary>
    public long Received { get; init; }

    /// <summary>Whether it would hold more ahead if other streams did not have their share of the memory.</summary>
    public bool IsCrowded { get; init; }

    /// <summary>Streams that share the memory.</summary>
    public int Streams { get; init; }

    /// <summary>What this process uses of all cores.</summary>
    public double ProcessorPercent { get; init; }
}

/// <summary>
/// Decides why a playback waits: what stands in the way of everything comes first, what explains only that more would be better comes last.
/// </summary>
/// <remarks>Pure.</remarks>
internal static class WaitPolicy
{
    // Shorter waits are those of a reader that has just come to its next article.
    private static readonly TimeSpan LeastWait = TimeSpan.FromMilliseconds(250);
    private const double MostOfTheTime = 0.5;

    // A player takes what it needs in portions.
    private static readonly TimeSpan LeastIdle = TimeSpan.FromSeconds(1);

    private const double BusyPercent = 90;

    /// <summary>The reason, and the number that shows it with its unit; null where there is none.</summary>
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

    /// <summary>Whether no provider can be asked: all have failed, or there is no connection while the next try is put off.</summary>
    private static bool IsDown(in WaitFacts facts) =>
        facts.Providers > 0 && (facts.Reachable == 0 || facts is { OpenConnections: 0, IsRepeated: true, Stage: null or FetchStage.Deciding });
}
