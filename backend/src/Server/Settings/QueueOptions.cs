namespace Sluice.Server.Settings;

internal sealed record QueueOptions
{
    public required int WorkerCount { get; init; }

    /// <summary>Maximum waiting items; 0 for unlimited.</summary>
    public required int MaxItems { get; init; }

    /// <summary>Queue length at which a full queue accepts items again; at most <see cref="MaxItems"/>.</summary>
    public required int ResumeThreshold { get; init; }

    /// <summary>Whether only items of priority Force start.</summary>
    public bool IsPaused { get; init; }

    /// <summary>How long a step may make no progress before it fails.</summary>
    public required TimeSpan StepTimeout { get; init; }

    /// <summary>Local folder from which NZBs are added; null for none.</summary>
    public string? WatchFolder { get; init; }

    /// <summary>Limit of all traffic in bytes per second, set by SABnzbd clients; 0 for unlimited.</summary>
    public long SpeedLimit { get; init; }

    /// <summary>Percentage set by a client while no bandwidth limit was configured. It has no effect; clients only read it back.</summary>
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
