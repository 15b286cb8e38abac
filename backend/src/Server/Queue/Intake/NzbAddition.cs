namespace Sluice.Server.Queue.Intake;

/// <summary>How to add an uploaded NZB.</summary>
internal sealed record NzbAddition
{
    /// <summary>Name of the uploaded file, with extension.</summary>
    public required string FileName { get; init; }

    /// <summary>Name for the item; null if the client sent none.</summary>
    public string? Name { get; init; }

    /// <summary>Category from the client; may be empty.</summary>
    public string Category { get; init; } = "";

    public QueuePriority Priority { get; init; }

    /// <summary>Whether the item stays paused until a client resumes it.</summary>
    public bool Paused { get; init; }

    /// <summary>Password from the client, which overrides a password in the name; null if not sent.</summary>
    public string? Password { get; init; }

    /// <summary>SABnzbd's post-processing level, −1 to 3. It is stored and returned, but has no effect.</summary>
    public int PostProcessing { get; init; } = -1;

    /// <summary>SABnzbd's script name. It is stored and returned, but has no effect.</summary>
    public string Script { get; init; } = "";

    /// <summary>Whether the upload becomes one file below <c>/nzbs</c>. Otherwise each of its NZBs gets its own file.</summary>
    public bool IsFile { get; init; }

    /// <summary>Whether the upload replaces a file of the same name. Otherwise it is refused.</summary>
    public bool MayReplace { get; init; }

    /// <summary>The file in the watch folder, recorded until it is deleted; null for other uploads.</summary>
    public WatchedFile? Source { get; init; }

    /// <summary>Whether the import starts after a delay, because the client may write the file again (<see cref="QueueSchedule"/>).</summary>
    public bool HoldsStart { get; init; }
}
