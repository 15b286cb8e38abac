using Sluice.Server.Database;

namespace Sluice.Server.History;

/// <summary>Properties that an import has both in the queue and in the history.</summary>
internal abstract record ImportItem
{
    /// <summary>Opaque, permanent id, because clients store it.</summary>
    public required string Id { get; init; }

    /// <summary>The name as added or renamed, or the title in the NZB. Names need not be unique (SAB-42).</summary>
    public required string Name { get; init; }

    /// <summary>Name of the NZB as added, with extension.</summary>
    public required string NzbName { get; init; }

    /// <summary>Stored category; <c>*</c> for none.</summary>
    public required string Category { get; init; }

    /// <summary>Folder (NFC) of the category below <c>/nzbs</c> and, after publication, below <c>/content</c>.</summary>
    public required string Folder { get; init; }

    /// <summary>Archive password, encrypted by <see cref="ItemPasswords"/>; empty for none.</summary>
    public string Password { get; init; } = "";

    /// <summary>SABnzbd's post-processing level, −1 to 3.</summary>
    public int PostProcessing { get; init; } = -1;

    public string Script { get; init; } = "";

    /// <summary>URL of an NZB that is not stored yet, encrypted under <see cref="UrlName"/> because it may contain an indexer's key; otherwise null.</summary>
    public string? Url { get; init; }

    /// <summary>Encoded bytes according to the NZB; 0 until the NZB is read.</summary>
    public long EncodedBytes { get; init; }

    /// <summary>When the NZB was accepted. The item's file below <c>/nzbs</c> shows this time as Last-Modified.</summary>
    public DateTimeOffset AddedAt { get; init; }

    /// <summary>The name under which an item's URL is encrypted.</summary>
    public static string UrlName(string id) => "url/" + id;

    public long AddedMilliseconds
    {
        get => AddedAt.ToUnixTimeMilliseconds();
        init => AddedAt = StoredTime.Read(value);
    }
}
