using Sluice.Server.Database;
using Sluice.Server.History;

namespace Sluice.Server.Queue;

/// <summary>An accepted NZB whose import has not ended.</summary>
internal sealed record QueueItem : ImportItem
{
    private const int MaxPassword = 1024;
    private const int MaxScript = 255;

    /// <summary>Band of the order.</summary>
    public QueuePriority Priority { get; init; }

    /// <summary>Not started while this is set.</summary>
    public bool Paused { get; init; }

    /// <summary>Content id of the stored NZB; empty as long as it is still to be fetched from <see cref="ImportItem.Url"/>.</summary>
    public required string NzbHash { get; init; }

    /// <summary>Whether a client gave it its name, so that nothing in the NZB may give it another one.</summary>
    public bool Named { get; init; }

    /// <summary>Whether and how it is tried again after a failure.</summary>
    public AnotherTry Retried { get; init; }

    /// <summary>How often it was tried to fetch it.</summary>
    public int FetchTries { get; init; }

    /// <summary>Bytes of the plain NZB.</summary>
    public long NzbLength { get; init; }

    /// <summary>Date of the newest posted file; null until the NZB has been read, or if it says none.</summary>
    public DateTimeOffset? PostedAt { get; init; }

    /// <summary><see cref="PostedAt"/> as its row has it, in Unix milliseconds.</summary>
    public long? PostedMilliseconds
    {
        get => PostedAt?.ToUnixTimeMilliseconds();
        init => PostedAt = value is { } posted ? StoredTime.Read(posted) : null;
    }

    /// <summary>Files that the NZB lists; null until it has been read.</summary>
    public int? Files { get; init; }

    /// <summary>Segments that the NZB lists; null until it has been read.</summary>
    public int? Segments { get; init; }

    /// <summary>What the NZB says about its post; null until it has been read.</summary>
    public PostMeasure? Measure => Files is { } files && Segments is { } segments ? new PostMeasure(EncodedBytes, PostedAt, files, segments) : null;

    /// <summary>Place in the whole queue, 0-based, by priority and position. Filled by listings only.</summary>
    public int Index { get; init; }

    /// <summary>The number of its row. Filled by lists for people only.</summary>
    public long Number { get; init; }

    /// <summary>Its position in its band. Filled by lists for people only.</summary>
    public long Position { get; init; }

    /// <summary>The hash of the file that it came in, where that is kept as it came; else null. Filled by removals only.</summary>
    public string? RawHash { get; init; }

    /// <summary>The row of the file that it came in. Filled where it is added only.</summary>
    public long File { get; init; }

    /// <summary>The blobs that it needed.</summary>
    public IEnumerable<string> BlobHashes => NzbHash.Length == 0 ? [] : RawHash is null ? [NzbHash] : [NzbHash, RawHash];

    /// <summary>The item with what its NZB says about its post; null if it is not known.</summary>
    public QueueItem With(PostMeasure? measure) => this with
    {
        EncodedBytes = measure?.EncodedBytes ?? 0,
        PostedAt = measure?.PostedAt,
        Files = measure?.Files,
        Segments = measure?.Segments,
    };

    /// <summary>A password, cut off where it is longer than one that is kept.</summary>
    public static string LimitPassword(string password) => password.Length <= MaxPassword ? password : password[..MaxPassword];

    /// <summary>The name of a script, cut off where it is longer than one that is kept.</summary>
    public static string LimitScript(string script) => script.Length <= MaxScript ? script : script[..MaxScript];
}

/// <summary>How an item is tried again; the numbers stand in its row.</summary>
[Flags]
internal enum AnotherTry
{
    /// <summary>It has not failed before.</summary>
    No = 0,

    /// <summary>What was remembered of its failure does not count.</summary>
    Yes = 1,

    /// <summary>Every provider is asked again, also for what it is remembered not to have.</summary>
    AsksEveryone = 2,

    /// <summary>It is published however much of it is missing, as far as its files can be found out.</summary>
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
