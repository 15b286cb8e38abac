namespace Sluice.Usenet.Nntp;

/// <summary>Deadlines and ceilings towards news servers. Each has the default of an ordinary home line.</summary>
/// <remarks>Immutable.</remarks>
public sealed record NntpOptions
{
    /// <summary>TCP must be connected by then: a healthy server answers within a second, a black hole never does.</summary>
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(4);

    /// <summary>TCP, TLS, greeting and login together.</summary>
    public TimeSpan LoginTimeout { get; init; } = TimeSpan.FromSeconds(8);

    /// <summary>A connection that owes a reply to a viewer and sends no byte for this long is given up.</summary>
    public TimeSpan PlaybackStall { get; init; } = TimeSpan.FromSeconds(6);

    /// <summary>The same for imports and health checks, which no viewer watches.</summary>
    public TimeSpan BackgroundStall { get; init; } = TimeSpan.FromSeconds(20);

    /// <summary>An idle connection is closed by us before servers do it, after 60 s and more.</summary>
    public TimeSpan IdleTimeout { get; init; } = TimeSpan.FromSeconds(45);

    /// <summary>Whether idle connections are kept alive while anything plays, and for a while after.</summary>
    public bool KeepsWarm { get; init; } = true;

    /// <summary>So many connections of each provider are opened with its first use, and kept alive though nothing plays.</summary>
    public int WarmFloor { get; init; }

    /// <summary>They are kept alive with DATE this often.</summary>
    public TimeSpan KeepAliveInterval { get; init; } = TimeSpan.FromSeconds(40);

    /// <summary>How long connections are kept alive after playback has ended.</summary>
    public TimeSpan KeepAliveAfterPlayback { get; init; } = TimeSpan.FromSeconds(120);

    /// <summary>A connection that was idle for this long and breaks before it has answered was stale, and others like it are too.</summary>
    public TimeSpan StaleAfter { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Longest wait for a connection to become free.</summary>
    public TimeSpan LeaseTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>The same for a fetch that no reader waits for yet: its turn may be long in coming on a slow line.</summary>
    public TimeSpan AheadTimeout { get; init; } = TimeSpan.FromSeconds(120);

    /// <summary>Longest time that the rest of an unwanted reply may take before the socket is replaced instead.</summary>
    public TimeSpan DrainTime { get; init; } = TimeSpan.FromMilliseconds(250);

    /// <summary>A server that has been sent a reset has noticed it after this long.</summary>
    public TimeSpan CloseGrace { get; init; } = TimeSpan.FromMilliseconds(250);

    /// <summary>A socket closed in mid-reply counts towards the cap until the server closes its side too, but never longer than this.</summary>
    public TimeSpan CloseLimit { get; init; } = TimeSpan.FromSeconds(30);

    /// <summary>The rest of an unwanted reply is read to its end up to this many bytes.</summary>
    public int DrainBytes { get; init; } = 256 * 1024;

    /// <summary>Longest line of text from a server in bytes: RFC 3977 says 512, real greetings exceed it.</summary>
    public int MaxLineBytes { get; init; } = 64 * 1024;

    /// <summary>Longest body in bytes as it comes off the wire; posts of today stay below 1.5 MB.</summary>
    public long MaxArticleBytes { get; init; } = 16 * 1024 * 1024;

    /// <summary>A body that comes in more slowly than this is a stall, in bytes per second.</summary>
    public int MinimumBytesPerSecond { get; init; } = 1024;

    /// <summary>Size of the receive buffer of a connection in bytes: one system call per many kilobytes.</summary>
    public int ReceiveBufferBytes { get; init; } = 256 * 1024;

    /// <summary>Handshakes under way at a time at one provider, so that a start does not look like an attack.</summary>
    public int HandshakesPerProvider { get; init; } = 2;

    /// <summary>Connections that serve or are being opened, up to which a handshake is begun at once for readers that wait.</summary>
    public int MostHandshakesPerProvider { get; init; } = 6;

    /// <summary>Further tries at one provider after a fault, before the next provider is asked.</summary>
    public int RetriesPerProvider { get; init; } = 1;

    /// <summary>Whether an article of which no byte comes is asked for a second time.</summary>
    public bool HedgeEnabled { get; init; } = true;

    /// <summary>
    /// Never sooner than after a silence of this long: less would ask twice for what is merely slow. More would cost the rate, because
    /// a window of 128 MiB lasts hardly longer at the speed of a good line.
    /// </summary>
    public TimeSpan HedgeFloor { get; init; } = TimeSpan.FromMilliseconds(50);

    /// <summary>An article that a reader waits for and that has found no connection by then is asked for at another provider.</summary>
    public TimeSpan HedgeWait { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>A provider that fails is left alone for this long at first; each probe that fails doubles it.</summary>
    public TimeSpan BreakerCooldown { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Never longer than this, so that a provider that works again is used within 90 s.</summary>
    public TimeSpan BreakerLongestCooldown { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Most bodies outstanding on one connection when the depth adapts.</summary>
    public int MaxPipeliningDepth { get; init; } = 16;

    /// <summary>Bodies outstanding on one connection while anything plays, whatever the line would bear; null: as many as it bears.</summary>
    public int? PlaybackDepth { get; init; }

    /// <summary>Most bodies outstanding on one connection for imports and checks; 1 sends them nothing before the last reply has ended, no STAT either.</summary>
    public int BackgroundDepth { get; init; } = 8;

    /// <summary>Whether providers of one priority are used one after the other, in their order, instead of side by side.</summary>
    public bool KeepsOrder { get; init; }

    /// <summary>Most STAT commands outstanding on one connection: their answers are short, but a viewer may want the connection back.</summary>
    public int MaxStatDepth { get; init; } = 100;

    /// <summary>The stall limit of a lane.</summary>
    public TimeSpan StallOf(OperationLane lane) => lane == OperationLane.Playback ? PlaybackStall : BackgroundStall;
}
