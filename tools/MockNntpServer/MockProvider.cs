using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer;

/// <summary>The certificate of a provider, or none for plain text.</summary>
public enum MockTls
{
    None,

    /// <summary>For <c>localhost</c> and the loopback addresses, signed by the mock's authority.</summary>
    Valid,

    /// <summary>Signed by the authority, for another host.</summary>
    WrongHost,

    /// <summary>Signed by the authority, expired yesterday.</summary>
    Expired,

    /// <summary>Correct host, self-signed.</summary>
    SelfSigned,
}

/// <summary>One provider of the mock with its line, limits and faults. Immutable; may be replaced while running.</summary>
public sealed record MockProvider
{
    /// <summary>Port; 0 for a free one. It cannot change while running, because the listener is bound to it.</summary>
    public int Port { get; init; }

    /// <summary>Round trip: the minimum time from a command's arrival to the start of its response.</summary>
    public TimeSpan Latency { get; init; }

    /// <summary>Maximum random deviation from the round trip, uniform in both directions.</summary>
    public TimeSpan Jitter { get; init; }

    /// <summary>Sleeps before each response instead, so that pipelined commands wait one after the other.</summary>
    public bool SerialLatency { get; init; }

    /// <summary>Connection limit; 0 for none.</summary>
    public int MaxConnections { get; init; }

    /// <summary>Rejects excess connections with 502 after the password, not at the greeting.</summary>
    public bool CapAtLogin { get; init; }

    /// <summary>Bytes per second of all connections together; 0 for no limit.</summary>
    public long Bandwidth { get; init; }

    /// <summary>Bytes per second of each connection; 0 for no limit.</summary>
    public long ConnectionBandwidth { get; init; }

    /// <summary>Maximum bytes of a response sent at a time; 0 for as many as the bandwidth limits allow in one step.</summary>
    public int Piece { get; init; }

    /// <summary>User name for the login; null if no login is needed.</summary>
    public string? User { get; init; }

    public string? Password { get; init; }

    /// <summary>Share of all articles that the provider holds, chosen by seed and provider.</summary>
    public double Coverage { get; init; } = 1;

    /// <summary>Articles that get 430 on this provider.</summary>
    public ArticleSelection Missing { get; init; } = ArticleSelection.None;

    /// <summary>Articles with a wrong byte on this provider.</summary>
    public ArticleSelection Corrupt { get; init; } = ArticleSelection.None;

    /// <summary>Share of BODY and ARTICLE responses that pause within the body and are then closed.</summary>
    public double Stall { get; init; }

    public TimeSpan StallTime { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Delay until a client's disconnect within a response is noticed, unless the response or its pause ends first. Until then the socket
    /// stays open and counts. Zero notices at once; <see cref="Timeout.InfiniteTimeSpan"/> only at the end, like a server that blocks in
    /// its store.
    /// </summary>
    public TimeSpan NoticesAfter { get; init; }

    /// <summary>Other faults of this provider. Their <see cref="MockFault.Provider"/> must be null or its number.</summary>
    public IReadOnlyList<MockFault> Faults { get; init; } = [];

    /// <summary>The certificate. Cannot change while running.</summary>
    public MockTls Tls { get; init; }
}
