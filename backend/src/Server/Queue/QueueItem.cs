using Sluice.Server.Database;
using Sluice.Server.History;

namespace Sluice.Server.Queue;

/// <summary>An accepted NZB whose import has not ended.</summary>
internal sealed record QueueItem : ImportItem
{
    private const int MaxPassword = 1024;
    private const int MaxScript = 255;

    public QueuePriority Priority { get; init; }
    public bool Paused { get; init; }

    /// <summary>Content id of the stored NZB; empty until it is fetched from <see cref="ImportItem.Url"/>.</summary>
    public required string NzbHash { get; init; }

    /// <summary>Whether a client chose the name, so that the NZB must not change it.</summary>
    public bool Named { get; init; }

    public RetryKind Retried { get; init; }
    public int FetchTries { get; init; }

    /// <summary>Length of the plain NZB.</summary>
    public long NzbLength { get; init; }

    /// <summary>Date of the newest file; null if unknown or not measured yet.</summary>
    public DateTimeOffset? PostedAt { get; init; }

    public long? PostedMilliseconds
    {
        get => PostedAt?.ToUnixTimeMilliseconds();
        init => PostedAt = value is { } posted ? StoredTime.Read(posted) : null;
    }

    /// <summary>Null until the NZB is measured.</summary>
    public int? Files { get; init; }

    /// <summary>Null until the NZB is measured.</summary>
    public int? Segments { get; init; }

    /// <summary>Null until the NZB is measured.</summary>
    public PostMeasure? Measure => Files is { } files && Segments is { } segments ? new PostMeasure(EncodedBytes, PostedAt, files, segments) : null;

    /// <summary>0-based place in the whole queue. Set by listings only.</summary>
    public int Index { get; init; }

    /// <summary>Row number. Set by lists of the web UI only.</summary>
    public long Number { get; init; }

    /// <summary>Position within the priority band. Set by lists of the web UI only.</summary>
    public long Position { get; init; }

    /// <summary>Hash of the packed upload it came in, or null. Set by removals only.</summary>
    public string? RawHash { get; init; }

    /// <summary>Row of its file. Set by inserts only.</summary>
    public long File { get; init; }

    public IEnumerable<string> BlobHashes => NzbHash.Length == 0 ? [] : RawHash is null ? [NzbHash] : [NzbHash, RawHash];

    /// <summary>Returns the item with the given measure; null clears it.</summary>
    public QueueItem With(PostMeasure? measure) => this with
    {
        EncodedBytes = measure?.EncodedBytes ?? 0,
        PostedAt = measure?.PostedAt,
        Files = measure?.Files,
        Segments = measure?.Segments,
    };

    /// <summary>Truncates a password to its maximum length.</summary>
    public static string LimitPassword(string password) => password.Length <= MaxPassword ? password : password[..MaxPassword];

    /// <summary>Truncates the name of a script to its maximum length.</summary>
    public static string LimitScript(string script) => script.Length <= MaxScript ? script : script[..MaxScript];
}

/// <summary>How to retry a failed item; the numbers are stored.</summary>
[Flags]
internal enum RetryKind
{
    /// <summary>Not a retry.</summary>
    No = 0,

    /// <summary>Ignores the articles remembered from the last failure.</summary>
    Yes = 1,

    /// <summary>Asks every provider again, even for articles remembered as missing.</summary>
    AsksEveryone = 2,

    /// <summary>Publishes the files that can be found, however many articles are missing.</summary>
    IgnoresDamage = 4,
}

/// <summary>Which items are worked on first; the numbers are those of SABnzbd.</summary>
internal enum QueuePriority
{
    /// <summary>After all others.</summary>
    Low = -1,

    /// <summary>The default.</summary>
    Normal = 0,

    /// <summary>Before normal ones.</summary>
    High = 1,

    /// <summary>First of all.</summary>
    Force = 2,
}
