using Sluice.Usenet.Media;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Probing;

/// <summary>The result of probing one posted file. Immutable; holds at most 1 KiB of content, or 6 KiB for an archive.</summary>
public sealed record FileHead
{
    /// <summary>Indexes of the file's targets, in order. Several if the NZB lists segments as files; −1 for an unlisted or missing segment.</summary>
    public required IReadOnlyList<int> Members { get; init; }

    /// <summary>The parsed subject of the first member.</summary>
    public required NzbSubject Subject { get; init; }

    public required ISegmentIds Ids { get; init; }

    /// <summary>Total article size in bytes as claimed by the NZB; only a hint, 0 if unknown.</summary>
    public long EncodedBytes { get; init; }

    public required HeadState State { get; init; }

    /// <summary>Kind detected from the first bytes, or from name or set for skipped files; Unknown if the beginning did not arrive.</summary>
    public MediaKind Kind { get; init; }

    /// <summary>The first bytes, at most 1 KiB, or 2 KiB for an archive; empty if the head did not arrive.</summary>
    public ReadOnlyMemory<byte> FirstBytes { get; init; }

    /// <summary>The verified last bytes of a possible volume, at most 4 KiB; empty if the last article did not arrive.</summary>
    public ReadOnlyMemory<byte> LastBytes { get; init; }

    /// <summary>MD5 of the first 16 KiB, or of a shorter whole file, as used by PAR2; null if not needed or if the first article is too short.</summary>
    public UInt128? HeadMd5 { get; init; }

    /// <summary>Header of the first article; null if the head did not arrive. The header's name stays valid.</summary>
    public ArticleHeader? Header { get; init; }

    /// <summary>
    /// The segment map. If the last article of a volume was not fetched, the file length is a claim of the first article. Null if the head did not
    /// arrive or was skipped. Null also if the last article is missing and the claimed size is impossible.
    /// </summary>
    public SegmentMap? Map { get; init; }

    /// <summary>The encoding, if the file has no map because its articles carry no ranges and the file is too long to fetch whole; otherwise null.</summary>
    public ArticleEncoding? TooLongToCount { get; init; }

    /// <summary>Which evidence the articles carry, judged from the first and the last article.</summary>
    public ArticleHabit Habit { get; init; }

    /// <summary>Whether first, last and all other fetched articles agree with <see cref="Map"/>; false if only the first was fetched.</summary>
    public bool IsConfirmed { get; init; }

    /// <summary>The archive or split file to which this volume belongs, according to its name; null if none.</summary>
    public string? VolumeSet { get; init; }

    /// <summary>Number of requested articles missing everywhere.</summary>
    public int MissingArticles { get; init; }

    public int AskedArticles { get; init; }

    /// <summary>Returns the file for streaming; null if <see cref="Map"/> is null.</summary>
    public PostedFile? ToPostedFile() => Map is null ? null : new PostedFile(Map, Ids) { Habit = new FileHabit(Habit) };
}

/// <summary>The outcome of probing a posted file.</summary>
public enum HeadState
{
    /// <summary>The head arrived.</summary>
    Found,

    /// <summary>No provider has the first article, or it was never posted.</summary>
    Missing,

    /// <summary>Every provider that has the first article returned it damaged, or returned another article.</summary>
    Corrupt,

    /// <summary>Not fetched: PAR2 by name, or a volume in the middle of a set whose names give the order.</summary>
    Skipped,
}
