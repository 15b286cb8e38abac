namespace Sluice.Usenet.Nzb;

/// <summary>One posted file as listed in the NZB. Immutable, but the segments are valid only until the reader continues with the next file.</summary>
public sealed record NzbFile
{
    /// <summary>The subject of the first article; may be empty.</summary>
    public required string Subject { get; init; }

    /// <summary>The posting date; null if missing or invalid.</summary>
    public DateTimeOffset? Date { get; init; }

    /// <summary>The newsgroups, at most 64.</summary>
    public IReadOnlyList<string> Groups { get; init; } = [];

    /// <summary>
    /// The segments: index i has number i + 1. Unlisted numbers are holes; segments without a usable number follow the highest number. At least one segment is
    /// not a hole. Each enumeration reads the segments again, which may throw an <see cref="IOException"/>; copy them to keep them.
    /// </summary>
    public required IReadOnlyCollection<NzbSegment> Segments { get; init; }

    /// <summary>Number of holes in <see cref="Segments"/>.</summary>
    public int Holes { get; init; }

    /// <summary>The only segment's number if it equals the subject's counter, such as 3 for <c>(3/50)</c>; otherwise 0.</summary>
    /// <remarks>Such a file is one part of a posted file listed part by part, and lower numbers are not holes (IMP-17).</remarks>
    public int Part { get; init; }

    /// <summary>Identifies the file within its NZB by subject and ids; sizes and dates are ignored.</summary>
    internal UInt128 Fingerprint { get; init; }
}

/// <summary>The NZB's entry for one article of a file.</summary>
/// <param name="Ids">The message-ids; the primary id is empty for a hole.</param>
/// <param name="Bytes">Encoded size in bytes as claimed by the NZB; only a hint, 0 if missing or impossible.</param>
public readonly record struct NzbSegment(SegmentIds Ids, int Bytes)
{
    /// <summary>Whether the number is not listed in the NZB.</summary>
    public bool IsHole => Ids.Primary.IsEmpty;
}
