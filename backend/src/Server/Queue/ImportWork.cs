using Sluice.Server.History;

namespace Sluice.Server.Queue;

/// <summary>What the steps of one import hand on to each other.</summary>
/// <remarks>Used by one step at a time. A step that is run again starts from what the one before has left.</remarks>
internal sealed class ImportWork(QueueItem item, DateTimeOffset startedAt, long began)
{
    /// <summary>The item.</summary>
    public QueueItem Item { get; set; } = item;

    /// <summary>When the work began.</summary>
    public DateTimeOffset StartedAt { get; } = startedAt;

    /// <summary>Timestamp of the same moment, from which durations are measured.</summary>
    public long Began { get; } = began;

    /// <summary>What reading the NZB has told, in this try or one before; null until then.</summary>
    public ReadPost? Read { get; set; }

    /// <summary>The files of the NZB that may become library files, left by ReadNzb; PAR2 files only where they are shown.</summary>
    public IReadOnlyList<PostedEntry> Payload { get; set; } = [];

    /// <summary>What ProbeHeads found out about each of them that can be used.</summary>
    public IReadOnlyList<ProbedEntry> Probed { get; set; } = [];

    /// <summary>Timings of the steps so far.</summary>
    public List<StepTiming> Timings { get; } = [];
}
