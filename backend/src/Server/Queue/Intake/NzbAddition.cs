namespace Sluice.Server.Queue.Intake;

/// <summary>How an uploaded NZB is to be added.</summary>
internal sealed record NzbAddition
{
    /// <summary>Name of the uploaded file, with its extension.</summary>
    public required string FileName { get; init; }

    /// <summary>Name of the item where the client gives one, else null.</summary>
    public string? Name { get; init; }

    /// <summary>Category as the client wrote it; may be empty.</summary>
    public string Category { get; init; } = "";

    /// <summary>Band of the order.</summary>
    public QueuePriority Priority { get; init; }

    /// <summary>Whether the item waits until a client resumes it.</summary>
    public bool Paused { get; init; }

    /// <summary>Password, or null; goes before one that stands in the name.</summary>
    public string? Password { get; init; }

    /// <summary>Stored and echoed: −1 to 3.</summary>
    public int PostProcessing { get; init; } = -1;

    /// <summary>Stored and echoed.</summary>
    public string Script { get; init; } = "";

    /// <summary>
    /// Whether the upload is a file below <c>/nzbs</c> of the name <see cref="FileName"/>, with all that is in it. Else each NZB
    /// lists for itself.
    /// </summary>
    public bool IsFile { get; init; }

    /// <summary>Whether a file replaces another of the same name; else the add is refused.</summary>
    public bool MayReplace { get; init; }

    /// <summary>The file of the watch folder that it comes from, which is remembered until it has been removed; else null.</summary>
    public WatchedFile? Source { get; init; }

    /// <summary>Whether work waits a moment, because the same file may be written again (<see cref="QueueSchedule"/>).</summary>
    public bool HoldsStart { get; init; }
}
