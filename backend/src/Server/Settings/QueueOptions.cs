namespace Sluice.Server.Settings;

internal sealed record QueueOptions
{
    public required int WorkerCount { get; init; }

    /// <summary>Maximum waiting items; 0 for no limit.</summary>
    public required int MaxItems { get; init; }

    /// <summary>Length at which a full queue accepts items again; at most <see cref="MaxItems"/>.</summary>
    public required int ResumeThreshold { get; init; }

    /// <summary>Whether only forced items start.</summary>
    public bool IsPaused { get; init; }

    /// <summary>A step without progress for this long fails.</summary>
    public required TimeSpan StepTimeout { get; init; }

    /// <summary>Local folder whose NZBs are added; null for none.</summary>
    public string? WatchFolder { get; init; }

    /// <summary>Limit for all traffic in bytes per second, set by SABnzbd API clients; 0 for none.</summary>
    public long SpeedLimit { get; init; }

    /// <summary>Percentage that a client set while no bandwidth limit was configured. It limits nothing; clients only read it back.</summary>
    public int SpeedPercent { get; init; }

    public static QueueOptions Read(EffectiveSettings settings)
    {
        var maxItems = settings.Number("queue.max-items");
        return new QueueOptions
        {
            WorkerCount = settings.Number("queue.worker-count"),
            MaxItems = maxItems,
            ResumeThreshold = Math.Min(settings.Number("queue.resume-threshold"), maxItems),
            IsPaused = settings.Boolean("queue.paused"),
            StepTimeout = settings.Seconds("queue.step-timeout-seconds"),
            WatchFolder = settings.Text("queue.watch-dir") is { Length: > 0 } folder ? folder : null,
            SpeedLimit = settings.Number("queue.speed-limit-kbps") * 1024L,
            SpeedPercent = settings.Number("queue.speed-limit-percent"),
        };
    }
}
