using Sluice.Server.Database;

namespace Sluice.Server.History;

/// <summary>Properties that an import has both in the queue and in the history.</summary>
internal abstract record ImportItem
{
    /// <summary>Opaque, permanent id that clients store.</summary>
    public required string Id { get; init; }

    /// <summary>The name as added or renamed, or the title in the NZB. Several items may have the same one (SAB-42).</summary>
    public required string Name { get; init; }

    /// <summary>Name of the NZB as added, with extension.</summary>
    public required string NzbName { get; init; }

    /// <summary>Stored category; <c>*</c> for none.</summary>
    public required string Category { get; init; }

    /// <summary>Folder of its category below <c>/nzbs</c> and, after publishing, below <c>/content</c> (NFC).</summary>
    public required string Folder { get; init; }

    /// <summary>Archive password of the NZB, sealed by <see cref="ItemPasswords"/>; empty for none.</summary>
    public string Password { get; init; } = "";

    /// <summary>−1 to 3. </summary>
    public int PostProcessing { get; init; } = -1;

    public string Script { get; init; } = "";

    /// <summary>URL of an unstored NZB, encrypted under <see cref="UrlName"/> because it may contain indexer keys; null otherwise.</summary>
    public string? Url { get; init; }

    /// <summary>Encoded size in bytes according to the NZB; 0 until it was read.</summary>
    public long EncodedBytes { get; init; }

    /// <summary>When the NZB was accepted; also Last-Modified of its file below <c>/nzbs</c>.</summary>
    public DateTimeOffset AddedAt { get; init; }

    /// <summary>The name under which an item's URL is encrypted.</summary>
    public static string UrlName(string id) => "url/" + id;

    public long AddedMilliseconds
    {
        get => AddedAt.ToUnixTimeMilliseconds();
        init => AddedAt = StoredTime.Read(value);
    }
}
