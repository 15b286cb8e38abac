using Sluice.Server.Database;

namespace Sluice.Server.History;

/// <summary>The properties that an import has as queue item and as history item.</summary>
internal abstract record ImportItem
{
    /// <summary>Opaque id that clients keep; never changes.</summary>
    public required string Id { get; init; }

    /// <summary>
    /// Name of the release: in the queue the one to be, free in its folder; of a completed item exactly the name of its folder
    /// (SAB-42).
    /// </summary>
    public required string Name { get; init; }

    /// <summary>Name of the NZB as it was added, with its extension.</summary>
    public required string NzbName { get; init; }

    /// <summary>Category as stored, <c>*</c> for none.</summary>
    public required string Category { get; init; }

    /// <summary>Its folder below <c>/nzbs</c> and, once published, below <c>/content</c>.</summary>
    public required string Folder { get; init; }

    /// <summary>Archive password that came with the NZB, sealed by <see cref="ItemPasswords"/>; empty for none.</summary>
    public string Password { get; init; } = "";

    /// <summary>Echoed to clients, without effect: −1 to 3.</summary>
    public int PostProcessing { get; init; } = -1;

    /// <summary>Echoed to clients, without effect.</summary>
    public string Script { get; init; } = "";

    /// <summary>
    /// The address of an NZB that is not stored, encrypted under <see cref="UrlName"/>; null for every other item. Holds keys of
    /// indexers.
    /// </summary>
    public string? Url { get; init; }

    /// <summary>Encoded size of the post in bytes, as the NZB says; 0 until it has been read.</summary>
    public long EncodedBytes { get; init; }

    /// <summary>When the NZB was accepted; Last-Modified of its file below <c>/nzbs</c>.</summary>
    public DateTimeOffset AddedAt { get; init; }

    /// <summary>The name under which the address of an item is encrypted.</summary>
    public static string UrlName(string id) => "url/" + id;

    /// <summary><see cref="AddedAt"/> as its row has it, in Unix milliseconds.</summary>
    public long AddedMilliseconds
    {
        get => AddedAt.ToUnixTimeMilliseconds();
        init => AddedAt = StoredTime.Read(value);
    }
}
