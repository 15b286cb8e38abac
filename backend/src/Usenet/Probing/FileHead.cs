using Sluice.Usenet.Media;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Probing;

/// <summary>What the probe of a posted file found out.</summary>
/// <remarks>Immutable; holds at most 1 KiB of content, and of an archive 6 KiB.</remarks>
public sealed record FileHead
{
    /// <summary>
    /// The indexes of the targets that make up the file, in order. Usually one; many for a post that lists each segment as
    /// a file, and then −1 stands for a segment that the NZB does not list or no provider has.
    /// </summary>
    public required IReadOnlyList<int> Members { get; init; }

    /// <summary>What the subject tells; that of the first member.</summary>
    public required NzbSubject Subject { get; init; }

    /// <summary>The message-ids of all segments in order.</summary>
    public required ISegmentIds Ids { get; init; }

    /// <summary>Size of all its articles in bytes as the NZB claims it; a hint, and 0 where the NZB claims nothing.</summary>
    public long EncodedBytes { get; init; }

    /// <summary>What became of the probe.</summary>
    public required HeadState State { get; init; }

    /// <summary>What the file is: by its first bytes, for skipped files by name or set. Unknown unless the beginning was seen.</summary>
    public MediaKind Kind { get; init; }

    /// <summary>Its first bytes, at most 1 KiB, of an archive 2 KiB; empty when the head did not arrive.</summary>
    public ReadOnlyMemory<byte> FirstBytes { get; init; }

    /// <summary>Its last bytes, proved, at most 4 KiB, where its last article came and it may be a volume; else empty.</summary>
    public ReadOnlyMemory<byte> LastBytes { get; init; }

    /// <summary>MD5 of its first 16 KiB, or of all of it where it is shorter, which PAR2 knows it by; null where nothing called for it, or its first article is too short.</summary>
    public UInt128? HeadMd5 { get; init; }

    /// <summary>The header of the first article, or null when the head did not arrive. Its name stays valid.</summary>
    public ArticleHeader? Header { get; init; }

    /// <summary>
    /// Where its segments live. Of a volume whose last article was not asked for its length is the one that its first article claims. Null
    /// when the head did not arrive, when it was not looked for, or when the headers say too little: a last article that is gone and a
    /// claimed size that cannot be.
    /// </summary>
    public SegmentMap? Map { get; init; }

    /// <summary>
    /// The encoding of its articles where they carry no ranges and the file is too long to fetch all of them for their lengths, so that
    /// it has no map; null in every other case.
    /// </summary>
    public ArticleEncoding? TooLongToCount { get; init; }

    /// <summary>What its articles carry, as far as first and last one show it.</summary>
    public ArticleHabit Habit { get; init; }

    /// <summary>True when first and last article, and every one between that was asked, agree with <see cref="Map"/>; never where only the first was asked for.</summary>
    public bool IsConfirmed { get; init; }

    /// <summary>The set that the file is a volume of by its name (archive or split file), or null.</summary>
    public string? VolumeSet { get; init; }

    /// <summary>How many of the articles that were asked for are gone everywhere.</summary>
    public int MissingArticles { get; init; }

    /// <summary>How many articles of the file were asked for.</summary>
    public int AskedArticles { get; init; }

    /// <summary>The file as a stream needs it, or null when <see cref="Map"/> is.</summary>
    public PostedFile? ToPostedFile() => Map is null ? null : new PostedFile(Map, Ids) { Habit = new FileHabit(Habit) };
}

/// <summary>What became of the probe of a posted file.</summary>
public enum HeadState
{
    /// <summary>The head arrived.</summary>
    Found,

    /// <summary>No provider has the first article, or it was never posted.</summary>
    Missing,

    /// <summary>What came in place of the first article is damaged or another article, at every provider that has it.</summary>
    Corrupt,

    /// <summary>Not asked for: PAR2 by name, or a volume in the middle of a set whose order its name tells.</summary>
    Skipped,
}
