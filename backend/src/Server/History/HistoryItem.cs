namespace Sluice.Server.History;

/// <summary>An import that has ended, well or not.</summary>
internal sealed record HistoryItem
{
    /// <summary>The id that the queue item had; opaque and never changed.</summary>
    public required string Id { get; init; }

    /// <summary>Name of the release; of a completed item exactly the name of its folder (SAB-42).</summary>
    public required string Name { get; init; }

    /// <summary>Name of the NZB as it was added, with its extension.</summary>
    public required string NzbName { get; init; }

    /// <summary>Category as stored, <c>*</c> for none.</summary>
    public required string Category { get; init; }

    /// <summary>Folder below <c>/content</c> that holds the release.</summary>
    public required string Folder { get; init; }

    /// <summary>Priority of the queue item, for a retry.</summary>
    public int Priority { get; init; }

    /// <summary>Password that came with the NZB, or empty.</summary>
    public string Password { get; init; } = "";

    /// <summary>Echoed to clients, without effect: −1 to 3.</summary>
    public int PostProcessing { get; init; } = -1;

    /// <summary>Echoed to clients, without effect.</summary>
    public string Script { get; init; } = "";

    /// <summary>Content id of the stored NZB, or null when none could be stored.</summary>
    public string? NzbHash { get; init; }

    /// <summary>Encoded size of the post in bytes, as the NZB says.</summary>
    public long EncodedBytes { get; init; }

    /// <summary>Sum of the published lengths in bytes, or the encoded size of a failed item (SAB-44).</summary>
    public long Bytes { get; init; }

    /// <summary>The release, or null for a failed item.</summary>
    public long? ReleaseId { get; init; }

    /// <summary>Name of a <see cref="FailureReason"/>, or null for a completed item.</summary>
    public string? Reason { get; init; }

    /// <summary>Sentence of the reason, or empty.</summary>
    public string FailMessage { get; init; } = "";

    /// <summary>When the NZB was accepted.</summary>
    public DateTimeOffset AddedAt { get; init; }

    /// <summary>When the work on it began that ended here.</summary>
    public DateTimeOffset StartedAt { get; init; }

    /// <summary>When it ended.</summary>
    public DateTimeOffset CompletedAt { get; init; }

    /// <summary>What took how long.</summary>
    public IReadOnlyList<StepTiming> Steps { get; init; } = [];

    /// <summary>Whether a release came of it.</summary>
    public bool IsCompleted => Reason is null;
}
