namespace Sluice.Server.Settings;

/// <summary>The queue (<c>queue.*</c>).</summary>
internal sealed record QueueOptions
{
    /// <summary>Items worked on at a time.</summary>
    public required int WorkerCount { get; init; }

    /// <summary>Most items that wait; 0 is no limit.</summary>
    public required int MaxItems { get; init; }

    /// <summary>A full queue takes items again when it has shrunk to this many; never above <see cref="MaxItems"/>.</summary>
    public required int ResumeThreshold { get; init; }

    /// <summary>Whether items are started only where a client forces it.</summary>
    public bool IsPaused { get; init; }

    /// <summary>A step without progress for this long has failed.</summary>
    public required TimeSpan StepTimeout { get; init; }

    /// <summary>Folder of this machine whose NZBs are added; null for none.</summary>
    public string? WatchFolder { get; init; }

    /// <summary>Bytes per second that a client of the SABnzbd API has limited all traffic to; 0: it has not.</summary>
    public long SpeedLimit { get; init; }

    /// <summary>Takes the values in force.</summary>
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
        };
    }
}
