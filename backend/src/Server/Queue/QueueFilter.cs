namespace Sluice.Server.Queue;

/// <summary>Which queue items are asked for. Null lists and null search match everything.</summary>
internal sealed record QueueFilter
{
    /// <summary>Case-insensitive part of the name.</summary>
    public string? Search { get; init; }

    /// <summary>Ids.</summary>
    public IReadOnlyList<string>? Ids { get; init; }

    /// <summary>Stored categories, compared exactly.</summary>
    public IReadOnlyList<string>? Categories { get; init; }

    /// <summary>Priorities.</summary>
    public IReadOnlyList<QueuePriority>? Priorities { get; init; }

    /// <summary>What is being done with the item, or null for anything.</summary>
    public QueueStateFilter? State { get; init; }
}

/// <summary>Items by what is being done with them. Who is worked on is known in memory, not in the rows.</summary>
/// <param name="Running">Items being worked on that match.</param>
/// <param name="AllRunning">Items being worked on, matching or not.</param>
/// <param name="Paused">Whether paused items match that are not worked on.</param>
/// <param name="Queued">Whether the others match that are not worked on.</param>
internal sealed record QueueStateFilter(IReadOnlyCollection<string> Running, IReadOnlyCollection<string> AllRunning, bool Paused, bool Queued);
