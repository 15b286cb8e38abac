namespace Sluice.Usenet.Nzb;

/// <summary>One posted file as the NZB lists it.</summary>
/// <remarks>Immutable but for its segments, which are there until the reader of the NZB goes on to the next file.</remarks>
public sealed record NzbFile
{
    /// <summary>The subject of its first article, or empty.</summary>
    public required string Subject { get; init; }

    /// <summary>When it was posted, or null when the NZB says nothing sensible.</summary>
    public DateTimeOffset? Date { get; init; }

    /// <summary>The groups it was posted to; at most 64.</summary>
    public IReadOnlyList<string> Groups { get; init; } = [];

    /// <summary>
    /// The segments by number: the one at index i has number i + 1. Numbers that the NZB leaves out are holes; segments
    /// without a usable number stand behind the highest one. At least one is no hole. Each enumeration reads them again, which may throw
    /// an <see cref="IOException"/>; a copy of them can be kept.
    /// </summary>
    public required IReadOnlyCollection<NzbSegment> Segments { get; init; }

    /// <summary>How many of <see cref="Segments"/> were never posted.</summary>
    public int Holes { get; init; }

    /// <summary>
    /// The number of its only segment, if the counter of the subject says the same: <c>(3/50)</c> and number 3. Then the file is one part of a
    /// posted file that the NZB lists part by part, and the numbers before it are no holes (IMP-17). Else 0.
    /// </summary>
    public int Part { get; init; }

    /// <summary>What tells it from the others of its NZB: subject and ids, but neither sizes nor dates.</summary>
    internal UInt128 Fingerprint { get; init; }
}

/// <summary>The NZB's entry for one article of a file.</summary>
/// <param name="Ids">What to ask for; its primary id is empty for a segment that was never posted.</param>
/// <param name="Bytes">
/// Size of the article as the NZB claims it, encoded, in bytes; 0 when it claims nothing possible. A hint and nothing more.
/// </param>
public readonly record struct NzbSegment(SegmentIds Ids, int Bytes)
{
    /// <summary>True for a number between 1 and the highest that the NZB does not list.</summary>
    public bool IsHole => Ids.Primary.IsEmpty;
}
