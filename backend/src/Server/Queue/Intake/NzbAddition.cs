namespace Sluice.Server.Queue.Intake;

/// <summary>How to add an uploaded NZB.</summary>
internal sealed record NzbAddition
{
    /// <summary>Name of the uploaded file, with extension.</summary>
    public required string FileName { get; init; }

    /// <summary>Name of the item; null if the client sent none.</summary>
    public string? Name { get; init; }

    /// <summary>Category as the client sent it; may be empty.</summary>
    public string Category { get; init; } = "";

    public QueuePriority Priority { get; init; }

    /// <summary>Whether the item stays paused until a client resumes it.</summary>
    public bool Paused { get; init; }

    /// <summary>Overrides a password in the name; null if the client sent none.</summary>
    public string? Password { get; init; }

    /// <summary>−1 to 3. Stored and echoed only.</summary>
    public int PostProcessing { get; init; } = -1;

    /// <summary>Stored and echoed only.</summary>
    public string Script { get; init; } = "";

    /// <summary>Whether the upload is one file below <c>/nzbs</c> with all its NZBs. Otherwise each NZB gets its own file.</summary>
    public bool IsFile { get; init; }

    /// <summary>Whether the upload replaces a file of the same name. Otherwise it is refused.</summary>
    public bool MayReplace { get; init; }

    /// <summary>The file of the watch folder, remembered until it is deleted; null for other uploads.</summary>
    public WatchedFile? Source { get; init; }

    /// <summary>Whether the import waits a moment, because the client may write the file again (<see cref="QueueSchedule"/>).</summary>
    public bool HoldsStart { get; init; }
}
