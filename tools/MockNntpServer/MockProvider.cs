using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer;

/// <summary>Which certificate a provider shows; none means plain text.</summary>
public enum MockTls
{
    /// <summary>No TLS.</summary>
    None,

    /// <summary>For <c>localhost</c> and the loopback addresses, signed by the mock's authority.</summary>
    Valid,

    /// <summary>Signed by the authority, for another host.</summary>
    WrongHost,

    /// <summary>Signed by the authority, expired yesterday.</summary>
    Expired,

    /// <summary>Right host, signed by itself.</summary>
    SelfSigned,
}

/// <summary>One provider of the mock: its line, its limits and its faults. Immutable; may be replaced while running.</summary>
public sealed record MockProvider
{
    /// <summary>Port; 0 takes a free one. Cannot change while running.</summary>
    public int Port { get; init; }

    /// <summary>Round trip: an answer starts no earlier than this after its command arrived.</summary>
    public TimeSpan Latency { get; init; }

    /// <summary>Uniform spread around the round trip, to both sides.</summary>
    public TimeSpan Jitter { get; init; }

    /// <summary>Sleeps before each answer instead, so that pipelined commands wait one after the other.</summary>
    public bool SerialLatency { get; init; }

    /// <summary>Most connections at a time; 0: no limit.</summary>
    public int MaxConnections { get; init; }

    /// <summary>Says 502 after the password and not at the greeting.</summary>
    public bool CapAtLogin { get; init; }

    /// <summary>Bytes per second of all connections together; 0: no limit.</summary>
    public long Bandwidth { get; init; }

    /// <summary>Bytes per second of each connection; 0: no limit.</summary>
    public long ConnectionBandwidth { get; init; }

    /// <summary>User that must log in; null: no login is needed.</summary>
    public string? User { get; init; }

    /// <summary>The user's password.</summary>
    public string? Password { get; init; }

    /// <summary>Share of all articles that the provider holds, chosen by seed and provider.</summary>
    public double Coverage { get; init; } = 1;

    /// <summary>Articles answered 430 at this provider.</summary>
    public ArticleSelection Missing { get; init; } = ArticleSelection.None;

    /// <summary>Articles with a wrong byte at this provider.</summary>
    public ArticleSelection Corrupt { get; init; } = ArticleSelection.None;

    /// <summary>Share of BODY and ARTICLE answers that pause in mid-body and are then closed.</summary>
    public double Stall { get; init; }

    /// <summary>How long such a pause is.</summary>
    public TimeSpan StallTime { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// A client that goes in the midst of an answer is noticed so much later, or when the answer or its pause has ended, whichever is
    /// first: the socket stays open and counts until then. Zero notices at once, <see cref="Timeout.InfiniteTimeSpan"/> only at the end,
    /// as a server does that blocks in its store.
    /// </summary>
    public TimeSpan NoticesAfter { get; init; }

    /// <summary>Other faults of this provider; their <see cref="MockFault.Provider"/> must be null or its number.</summary>
    public IReadOnlyList<MockFault> Faults { get; init; } = [];

    /// <summary>Certificate, or none. Cannot change while running.</summary>
    public MockTls Tls { get; init; }
}
