using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams;

/// <summary>What a decoded article is worth as the copy of a segment.</summary>
internal enum SegmentProof
{
    /// <summary>Identity, exact length, and the CRC where the article carries one.</summary>
    Proved,

    /// <summary>Identity and exact length, but the article breaks off before its trailer: one more provider is asked.</summary>
    Unconfirmed,

    /// <summary>Another article, another length, or damaged bytes.</summary>
    Corrupt,

    /// <summary>The right number and bytes that its own CRC proves, but another range: it may be the map that is wrong.</summary>
    Refuting,
}

/// <summary>Compares articles with the place that the map gives to their segment (yEnc draft 1.3).</summary>
internal static class SegmentProofs
{
    /// <summary>
    /// Whether a header is that of the segment: part number and range decide. The total, the size of the file and the name never
    /// do, because obfuscated posts lie there; an article without a range has nothing to compare, its place in the NZB stands.
    /// </summary>
    public static bool Identifies(in YencHeader header, Segment segment)
    {
        if (header.Part is { } part && part != segment.Index + 1)
            return false;
        return header.Begin is not { } begin || header.End is not { } end || (begin == segment.Begin && end == segment.End);
    }

    /// <summary>Judges a whole article.</summary>
    /// <param name="result">What it turned out to be.</param>
    /// <param name="segment">What it was fetched for.</param>
    /// <param name="checksCrc">Whether its checksum counts.</param>
    public static SegmentProof Judge(in YencResult result, Segment segment, bool checksCrc)
    {
        if (ClaimOf(result, segment) is not null)
            return SegmentProof.Refuting;
        if ((result.Defects & YencDefects.NoHeader) != 0 || !Identifies(result.Header, segment) || result.DecodedLength != segment.Length)
            return SegmentProof.Corrupt;
        if (result.Trailer is null)
            return SegmentProof.Unconfirmed;
        if (result.Trailer.Value.Size is { } size && size != segment.Length)
            return SegmentProof.Corrupt;
        return checksCrc && (result.Defects & YencDefects.CrcMismatch) != 0 ? SegmentProof.Corrupt : SegmentProof.Proved;
    }

    /// <summary>
    /// The place that a whole article claims against the map. Only one that says its number and its range, is as long as that
    /// and carries a CRC that fits has anything to say; null for every other, and where it agrees with the map.
    /// </summary>
    public static Segment? ClaimOf(in YencResult result, Segment segment)
    {
        var header = result.Header;
        if (header.Part != segment.Index + 1 || !header.HasPartLine || header.Begin is not { } begin || header.End is not { } end)
            return null;
        if ((begin == segment.Begin && end == segment.End) || end - begin is < 0 or > SegmentMap.MaxSegmentLength || result.DecodedLength != end - begin)
            return null;
        if (result.ExpectedCrc is null || result.Trailer is null || (result.Trailer.Value.Size is { } size && size != end - begin))
            return null;
        return (result.Defects & (YencDefects.NoHeader | YencDefects.CrcMismatch)) != 0 ? null : new Segment(segment.Index, begin, (int)(end - begin));
    }
}
