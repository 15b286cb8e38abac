namespace Sluice.Server.Queue;

/// <summary>An accepted NZB whose import has not ended.</summary>
internal sealed record QueueItem
{
    /// <summary>Opaque id that clients keep; never changes.</summary>
    public required string Id { get; init; }

    /// <summary>Name of the release to be, free in its folder.</summary>
    public required string Name { get; init; }

    /// <summary>Name under which it was added, with its extension.</summary>
    public required string NzbName { get; init; }

    /// <summary>Category as stored, <c>*</c> for none.</summary>
    public required string Category { get; init; }

    /// <summary>Its folder below <c>/nzbs</c> and, once published, below <c>/content</c>.</summary>
    public required string Folder { get; init; }

    /// <summary>Band of the order.</summary>
    public QueuePriority Priority { get; init; }

    /// <summary>Not started while this is set.</summary>
    public bool Paused { get; init; }

    /// <summary>Password that came with it, or empty. Secret: never logged.</summary>
    public string Password { get; init; } = "";

    /// <summary>Echoed to clients, without effect: −1 to 3.</summary>
    public int PostProcessing { get; init; } = -1;

    /// <summary>Echoed to clients, without effect.</summary>
    public string Script { get; init; } = "";

    /// <summary>Content id of the stored NZB.</summary>
    public required string NzbHash { get; init; }

    /// <summary>Bytes of the plain NZB.</summary>
    public long NzbLength { get; init; }

    /// <summary>Encoded size of the post in bytes, as the NZB says; 0 until it has been read.</summary>
    public long EncodedBytes { get; init; }

    /// <summary>Mean date of the posted files; null until the NZB has been read, or when it says none.</summary>
    public DateTimeOffset? PostedAt { get; init; }

    /// <summary>When it was accepted; Last-Modified of its file.</summary>
    public DateTimeOffset AddedAt { get; init; }

    /// <summary>What clients have stored about its file, opaque here; empty for nothing.</summary>
    public string Properties { get; init; } = "";

    /// <summary>Place in the whole queue, 0-based, by priority and position. Filled by listings only.</summary>
    public int Index { get; init; }

    /// <summary>Its name below <c>/nzbs</c>.</summary>
    public string FileName => Name + ".nzb";
}
