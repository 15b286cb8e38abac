using Sluice.Server.Database;
using Sluice.Server.History;

namespace Sluice.Server.Queue;

/// <summary>An accepted NZB that is waiting for its import or being imported.</summary>
internal sealed record QueueItem : ImportItem
{
    private const int MaxPassword = 1024;
    private const int MaxScript = 255;

    public QueuePriority Priority { get; init; }
    public bool Paused { get; init; }

    /// <summary>Hash of the stored NZB; empty until it is fetched from <see cref="ImportItem.Url"/>.</summary>
    public required string NzbHash { get; init; }

    /// <summary>Whether a client chose the name, so that the NZB must not change it.</summary>
    public bool Named { get; init; }

    public RetryKind Retried { get; init; }
    public int FetchTries { get; init; }

    /// <summary>Length of the decompressed NZB in bytes.</summary>
    public long NzbLength { get; init; }

    /// <summary>Post date of the newest file; null if unknown or not yet measured.</summary>
    public DateTimeOffset? PostedAt { get; init; }

    public long? PostedMilliseconds
    {
        get => PostedAt?.ToUnixTimeMilliseconds();
        init => PostedAt = value is { } posted ? StoredTime.Read(posted) : null;
    }

    /// <summary>Number of files; null until the NZB is measured.</summary>
    public int? Files { get; init; }

    /// <summary>Number of segments; null until the NZB is measured.</summary>
    public int? Segments { get; init; }

    /// <summary>Size and age; null until the NZB is measured.</summary>
    public PostMeasure? Measure => Files is { } files && Segments is { } segments ? new PostMeasure(EncodedBytes, PostedAt, files, segments) : null;

    /// <summary>0-based position in the whole queue. Set only by listings.</summary>
    public int Index { get; init; }

    /// <summary>Row number. Set only by lists of the web UI.</summary>
    public long Number { get; init; }

    /// <summary>Sort key within the priority. Set only by lists of the web UI.</summary>
    public long Position { get; init; }

    /// <summary>Hash of the packed upload, or null if there is none. Set only by removals.</summary>
    public string? RawHash { get; init; }

    /// <summary>Row of the item's file. Set only by inserts.</summary>
    public long File { get; init; }

    public IEnumerable<string> BlobHashes => NzbHash.Length == 0 ? [] : RawHash is null ? [NzbHash] : [NzbHash, RawHash];

    /// <summary>Returns a copy of the item with the given measure; null clears the measure.</summary>
    public QueueItem With(PostMeasure? measure) => this with
    {
        EncodedBytes = measure?.EncodedBytes ?? 0,
        PostedAt = measure?.PostedAt,
        Files = measure?.Files,
        Segments = measure?.Segments,
    };

    public static string LimitPassword(string password) => password.Length <= MaxPassword ? password : password[..MaxPassword];

    public static string LimitScript(string script) => script.Length <= MaxScript ? script : script[..MaxScript];
}

/// <summary>How to retry a failed item. These numbers are stored in the database, so they must not change.</summary>
[Flags]
internal enum RetryKind
{
    /// <summary>Not a retry.</summary>
    No = 0,

    /// <summary>Ignores the missing articles remembered from the last failure.</summary>
    Yes = 1,

    /// <summary>Asks every provider again, even for articles remembered as missing.</summary>
    AsksEveryone = 2,

    /// <summary>Publishes all files that can be read, however many articles are missing.</summary>
    IgnoresDamage = 4,
}

/// <summary>Priority of an item, numbered as in SABnzbd.</summary>
internal enum QueuePriority
{
    Low = -1,

    Normal = 0,

    High = 1,

    /// <summary>Ahead of all other priorities, even while the queue is paused.</summary>
    Force = 2,
}
