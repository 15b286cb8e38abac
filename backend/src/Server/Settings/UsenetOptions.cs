namespace Sluice.Server.Settings;

/// <summary>Providers and their limits (<c>usenet.*</c>).</summary>
internal sealed record UsenetOptions
{
    private const long MiB = 1 << 20;
    private const int AutomaticBudget = 256;

    /// <summary>The providers as JSON (docs/configuration.md, "Providers"). Must not be logged, because it contains credentials.</summary>
    public required string Providers { get; init; }

    /// <summary>Maximum concurrent connections to all providers; 0 for the total of the pooled providers.</summary>
    public required int MaxDownloadConnections { get; init; }

    /// <summary>Maximum concurrent connections for imports; 0 for no separate limit.</summary>
    public int MaxQueueConnections { get; init; }

    /// <summary>Percentage of connections reserved for streams during playback.</summary>
    public required int StreamingPriority { get; init; }

    /// <summary>Maximum concurrent streams; 0 for as many as memory allows. Memory is always the upper limit.</summary>
    public int MaxStreams { get; init; }

    /// <summary>Maximum decoded article bytes in memory, as configured.</summary>
    public required long ArticleBudgetBytes { get; init; }

    /// <summary>Maximum read-ahead per stream, in bytes.</summary>
    public required long ReadAheadBytes { get; init; }

    /// <summary>Timeout for a client's first byte. Later bytes may take twice as long.</summary>
    public required TimeSpan StreamingReadTimeout { get; init; }

    /// <summary>How long a client may stop reading; infinite for no limit.</summary>
    public required TimeSpan StreamingWriteTimeout { get; init; }

    /// <summary>How long a streaming connection may receive nothing before it is closed.</summary>
    public required TimeSpan StreamingStall { get; init; }

    /// <summary>How long a connection for imports or checks may receive nothing before it is closed.</summary>
    public required TimeSpan BackgroundStall { get; init; }

    /// <summary>Maximum retries per provider after an error.</summary>
    public required int StreamingSegmentRetries { get; init; }

    public bool KeepsWarm { get; init; } = true;

    /// <summary>Connections per provider to keep open while nothing plays.</summary>
    public int WarmFloor { get; init; }

    public bool SharesSegments { get; init; } = true;

    /// <summary>Articles in flight per connection during playback; null for automatic.</summary>
    public int? StreamingDepth { get; init; }

    /// <summary>Maximum articles in flight per connection for imports; 1 disables pipelining.</summary>
    public int QueueDepth { get; init; } = 8;

    /// <summary>Whether providers of equal priority are tried in order instead of in parallel.</summary>
    public bool Cascade { get; init; }

    /// <summary>Whether a part with a wrong CRC counts as damaged.</summary>
    public bool ChecksCrc { get; init; } = true;

    /// <summary>Whether to send a second request if the first byte of an awaited article is late.</summary>
    public required bool HedgeEnabled { get; init; }

    /// <summary>Minimum delay before the second request.</summary>
    public required TimeSpan HedgeFloor { get; init; }

    /// <summary>How long a missing article is remembered after a provider's first "no such article" reply.</summary>
    public required TimeSpan MissCacheTime { get; init; }

    public required int MissCacheEntries { get; init; }

    public required TimeSpan ConnectTimeout { get; init; }

    /// <summary>Total timeout for TCP, TLS, greeting and login; not less than <see cref="ConnectTimeout"/>.</summary>
    public required TimeSpan LoginTimeout { get; init; }

    /// <summary>Limit for all providers together in bytes per second; 0 for unlimited.</summary>
    public long BandwidthLimit { get; init; }

    /// <summary>Limits by day and time, which replace <see cref="BandwidthLimit"/> while they apply.</summary>
    public BandwidthSchedule Schedule { get; init; } = BandwidthSchedule.Empty;

    public required TimeSpan IdleConnectionTimeout { get; init; }

    /// <summary>Returns the configured budget, at most a quarter of the memory available to the machine or container.</summary>
    public long ArticleBudgetWithin(long availableMemory) => Math.Min(ArticleBudgetBytes, availableMemory / 4);

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

    /// <summary>Omits all values, because some are credentials.</summary>
    public override string ToString() => nameof(UsenetOptions);
}
