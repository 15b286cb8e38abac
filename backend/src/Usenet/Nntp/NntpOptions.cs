namespace Sluice.Usenet.Nntp;

/// <summary>Timeouts and limits for news servers. The defaults suit an ordinary home line. Immutable.</summary>
public sealed record NntpOptions
{
    /// <summary>Timeout of the TCP connect. A healthy server answers within a second; a dropped packet is never answered.</summary>
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(4);

    /// <summary>Timeout of TCP, TLS, greeting and login together.</summary>
    public TimeSpan LoginTimeout { get; init; } = TimeSpan.FromSeconds(8);

    /// <summary>Stall timeout for viewers: a connection closes if a viewer's reply makes no progress for this long.</summary>
    public TimeSpan PlaybackStall { get; init; } = TimeSpan.FromSeconds(6);

    /// <summary>Stall timeout of imports and health checks; longer, because no viewer waits.</summary>
    public TimeSpan BackgroundStall { get; init; } = TimeSpan.FromSeconds(20);

    /// <summary>Idle connections close after this time, because servers close them after 60 s or more.</summary>
    public TimeSpan IdleTimeout { get; init; } = TimeSpan.FromSeconds(45);

    /// <summary>Whether idle connections are kept alive during playback and for a while after.</summary>
    public bool KeepsWarm { get; init; } = true;

    /// <summary>Number of connections per provider that are opened at first use and kept alive even without playback.</summary>
    public int WarmFloor { get; init; }

    /// <summary>Interval of the DATE commands that keep connections alive.</summary>
    public TimeSpan KeepAliveInterval { get; init; } = TimeSpan.FromSeconds(40);

    /// <summary>How long connections are kept alive after playback has ended.</summary>
    public TimeSpan KeepAliveAfterPlayback { get; init; } = TimeSpan.FromSeconds(120);

    /// <summary>A connection is stale if it breaks on the first command after this idle time. Others idle for as long are then closed too.</summary>
    public TimeSpan StaleAfter { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Longest wait of a fetch for a free connection.</summary>
    public TimeSpan LeaseTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>Longest wait of a prefetch for a free connection; longer, because on a slow line its turn may come late.</summary>
    public TimeSpan AheadTimeout { get; init; } = TimeSpan.FromSeconds(120);

    /// <summary>Longest time to read the rest of an abandoned reply before the socket is replaced instead.</summary>
    public TimeSpan DrainTime { get; init; } = TimeSpan.FromMilliseconds(250);

    /// <summary>Time after which a server should have noticed a reset.</summary>
    public TimeSpan CloseGrace { get; init; } = TimeSpan.FromMilliseconds(250);

    /// <summary>Longest time that a socket closed in the middle of a reply counts toward the cap if the server does not close its side.</summary>
    public TimeSpan CloseLimit { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>The rest of an abandoned reply is always read if it has at most this many bytes.</summary>
    public int DrainBytes { get; init; } = 256 * 1024;

    /// <summary>Longest text line from a server in bytes. RFC 3977 allows 512, but real greetings exceed that.</summary>
    public int MaxLineBytes { get; init; } = 64 * 1024;

    /// <summary>Longest body in bytes on the wire. Current posts stay below 1.5 MB.</summary>
    public long MaxArticleBytes { get; init; } = 16 * 1024 * 1024;

    /// <summary>Bytes per second below which an arriving body counts as stalled.</summary>
    public int MinimumBytesPerSecond { get; init; } = 1024;

    /// <summary>Receive buffer per connection in bytes; large, so that one system call reads many kilobytes.</summary>
    public int ReceiveBufferBytes { get; init; } = 256 * 1024;

    /// <summary>Maximum number of parallel handshakes with one provider; low, so that startup does not look like an attack.</summary>
    public int HandshakesPerProvider { get; init; } = 2;

    /// <summary>While readers wait, handshakes run in parallel up to this number of open and opening connections.</summary>
    public int MostHandshakesPerProvider { get; init; } = 6;

    /// <summary>Retries at one provider after a fault, before the next provider is asked.</summary>
    public int RetriesPerProvider { get; init; } = 1;

    /// <summary>Whether late articles are hedged: requested a second time while the first reply is silent.</summary>
    public bool HedgeEnabled { get; init; } = true;

    /// <summary>Shortest silence before a hedge. Less would hedge merely slow replies; more would drain a 128 MiB window on a fast line.</summary>
    public TimeSpan HedgeFloor { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>After waiting this long for a connection, an article that a reader waits for is requested from another provider.</summary>
    public TimeSpan HedgeWait { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>First cooldown of a failing provider; each failed probe doubles it.</summary>
    public TimeSpan BreakerCooldown { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Longest cooldown, so that a recovered provider is used within 90 s.</summary>
    public TimeSpan BreakerLongestCooldown { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Maximum number of outstanding bodies per connection when the depth adapts.</summary>
    public int MaxPipeliningDepth { get; init; } = 16;

    /// <summary>Outstanding playback bodies per connection; null adapts to the line.</summary>
    public int? PlaybackDepth { get; init; }

    /// <summary>Maximum number of outstanding background bodies per connection; 1 turns off pipelining for imports and checks, including STAT.</summary>
    public int BackgroundDepth { get; init; } = 8;

    /// <summary>Whether providers with equal priority are used in the order of the settings instead of by load.</summary>
    public bool KeepsOrder { get; init; }

    /// <summary>Maximum number of outstanding STAT commands per connection, limited because a viewer may need the connection soon.</summary>
    public int MaxStatDepth { get; init; } = 100;

    /// <summary>The stall timeout of a lane.</summary>
    public TimeSpan StallOf(OperationLane lane) => lane == OperationLane.Playback ? PlaybackStall : BackgroundStall;
}
