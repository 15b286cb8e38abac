namespace Sluice.Server.Settings;

/// <summary>Providers and the limits of their use (<c>usenet.*</c>).</summary>
internal sealed record UsenetOptions
{
    private const long MiB = 1 << 20;
    private const int AutomaticBudget = 256;

    /// <summary>The providers as JSON (docs/configuration.md, "Providers"). Holds credentials.</summary>
    public required string Providers { get; init; }

    /// <summary>Most connections at a time over all providers; 0: all that are pooled.</summary>
    public required int MaxDownloadConnections { get; init; }

    /// <summary>Most connections of imports at a time; 0: no cap of their own.</summary>
    public int MaxQueueConnections { get; init; }

    /// <summary>Share of the connections that streams get while one runs, 0–100.</summary>
    public required int StreamingPriority { get; init; }

    /// <summary>Most streams at a time; 0: as many as the memory carries, which is never exceeded.</summary>
    public int MaxStreams { get; init; }

    /// <summary>Most bytes of decoded articles in memory, by the setting alone.</summary>
    public required long ArticleBudgetBytes { get; init; }

    /// <summary>Most bytes that one stream reads ahead.</summary>
    public required long ReadAheadBytes { get; init; }

    /// <summary>How long a client waits for its first byte; twice this for a later one.</summary>
    public required TimeSpan StreamingReadTimeout { get; init; }

    /// <summary>How long a client may take nothing of its answer; infinite for as long as it likes.</summary>
    public required TimeSpan StreamingWriteTimeout { get; init; }

    /// <summary>A connection that serves a stream and is silent for this long is closed.</summary>
    public required TimeSpan StreamingStall { get; init; }

    /// <summary>The same for imports and checks.</summary>
    public required TimeSpan BackgroundStall { get; init; }

    /// <summary>Further tries per provider after a fault.</summary>
    public required int StreamingSegmentRetries { get; init; }

    /// <summary>Whether idle connections are kept alive during playback.</summary>
    public bool KeepsWarm { get; init; } = true;

    /// <summary>Connections of each provider that are kept alive without playback.</summary>
    public int WarmFloor { get; init; }

    /// <summary>Whether streams share fetched segments.</summary>
    public bool SharesSegments { get; init; } = true;

    /// <summary>Articles requested at a time on one connection during playback; null: as many as the line bears.</summary>
    public int? StreamingDepth { get; init; }

    /// <summary>Most articles requested at a time on one connection by imports; 1: one after the other.</summary>
    public int QueueDepth { get; init; } = 8;

    /// <summary>Whether providers of one priority are used one after the other.</summary>
    public bool Cascade { get; init; }

    /// <summary>Whether a part with a wrong checksum is a bad one.</summary>
    public bool ChecksCrc { get; init; } = true;

    /// <summary>Whether an article that a player waits for is asked for a second time when no byte of it comes.</summary>
    public required bool HedgeEnabled { get; init; }

    /// <summary>The second time is never sooner than after this long.</summary>
    public required TimeSpan HedgeFloor { get; init; }

    /// <summary>How long a provider's "no such article" is believed at first.</summary>
    public required TimeSpan MissCacheTime { get; init; }

    /// <summary>How many of these answers are kept.</summary>
    public required int MissCacheEntries { get; init; }

    /// <summary>For TCP to connect.</summary>
    public required TimeSpan ConnectTimeout { get; init; }

    /// <summary>For TCP, TLS, greeting and login together; never below <see cref="ConnectTimeout"/>.</summary>
    public required TimeSpan LoginTimeout { get; init; }

    /// <summary>Bytes per second that come from all providers together; 0: no limit.</summary>
    public long BandwidthLimit { get; init; }

    /// <summary>What takes the place of that limit by day and time.</summary>
    public BandwidthSchedule Schedule { get; init; } = BandwidthSchedule.Empty;

    /// <summary>An unused connection is closed after this long.</summary>
    public required TimeSpan IdleConnectionTimeout { get; init; }

    /// <summary>The budget, held below a quarter of the memory that the process may use.</summary>
    /// <param name="availableMemory">Of the machine or the container, in bytes.</param>
    public long ArticleBudgetWithin(long availableMemory) => Math.Min(ArticleBudgetBytes, availableMemory / 4);

    /// <summary>Takes the values in force.</summary>
    public static UsenetOptions Read(EffectiveSettings settings)
    {
        var budget = settings.Number("usenet.in-flight-article-budget-mb");
        var width = settings.Number("usenet.streaming-body-batch-width");
        var write = settings.Number("usenet.streaming-write-timeout-seconds");
        var connect = settings.Seconds("usenet.connect-timeout-seconds");
        var login = settings.Seconds("usenet.login-timeout-seconds");
        return new UsenetOptions
        {
            Providers = settings.Text("usenet.providers"),
            MaxDownloadConnections = settings.Number("usenet.max-download-connections"),
            MaxQueueConnections = settings.Number("usenet.max-queue-connections"),
            StreamingPriority = settings.Number("usenet.streaming-priority"),
            MaxStreams = settings.Number("usenet.max-streams"),
            ArticleBudgetBytes = (budget == 0 ? AutomaticBudget : budget) * MiB,
            ReadAheadBytes = settings.Number("usenet.read-ahead-mb") * MiB,
            StreamingReadTimeout = settings.Seconds("usenet.streaming-read-timeout-seconds"),
            StreamingWriteTimeout = write == 0 ? Timeout.InfiniteTimeSpan : TimeSpan.FromSeconds(write),
            StreamingStall = settings.Seconds("usenet.streaming-stall-seconds"),
            BackgroundStall = settings.Seconds("usenet.background-stall-seconds"),
            StreamingSegmentRetries = settings.Number("usenet.streaming-segment-retries"),
            KeepsWarm = settings.Boolean("usenet.warm-connections.enabled"),
            WarmFloor = settings.Number("usenet.warm-connections.floor"),
            SharesSegments = settings.Boolean("usenet.shared-streams.enabled"),
            StreamingDepth = width == 0 ? null : width,
            QueueDepth = settings.Boolean("usenet.queue-pipelining.enabled") ? settings.Number("usenet.queue-pipelining.depth") : 1,
            Cascade = settings.Boolean("usenet.cascade.enabled"),
            ChecksCrc = settings.Boolean("usenet.crc-check"),
            HedgeEnabled = settings.Boolean("usenet.hedge.enabled"),
            HedgeFloor = TimeSpan.FromMilliseconds(settings.Number("usenet.hedge.floor-ms")),
            MissCacheTime = settings.Seconds("usenet.article-miss-cache-ttl-seconds"),
            MissCacheEntries = settings.Number("usenet.article-miss-cache-max-entries"),
            ConnectTimeout = connect,
            LoginTimeout = login > connect ? login : connect,
            IdleConnectionTimeout = settings.Seconds("usenet.idle-connection-timeout-seconds"),
            BandwidthLimit = settings.Number("usenet.bandwidth-limit-mbps") * BandwidthSchedule.BytesOfMegabit,
            Schedule = BandwidthSchedule.Read(settings.Text("usenet.bandwidth-schedule")) ?? BandwidthSchedule.Empty,
        };
    }

    /// <summary>Nothing: the text would hold credentials.</summary>
    public override string ToString() => nameof(UsenetOptions);
}
