using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams.Proof;

/// <summary>How one field of an article compares with the segment.</summary>
internal enum Mark : byte
{
    Absent,

    /// <summary>The field is present, but its value is invalid.</summary>
    Unusable,

    /// <summary>The field is absent, but another field replaces it: the size of a single-part file gives the range.</summary>
    Implied,

    Fits,

    Differs,
}

/// <summary>
/// The evidence that an article is a copy of a segment (yEnc draft 1.3). <c>IsBlock</c>: the article has a block of exactly the segment's length. Total, file
/// size and name do not count, because obfuscated posts falsify them.
/// </summary>
internal readonly record struct SegmentEvidence(bool IsBlock, Mark Number, Mark Range, Mark Checksum)
{
    public static SegmentEvidence Of(in DecodedArticle result, Segment segment) => new(
        (result.Defects & (ArticleDefects.NoHeader | ArticleDefects.DamagedLine)) == 0 && result.DecodedLength == segment.Length && (result.TrailerSize ?? segment.Length) == segment.Length,
        NumberOf(result.Header, segment),
        RangeOf(result.Header, segment),
        ChecksumOf(result));

    /// <summary>Whether bytes may be served before the article is complete: number and range match the segment, or the file never has them.</summary>
    public static bool Identifies(in ArticleHeader header, Segment segment, ArticleHabit habit) =>
        IsIdentified(NumberOf(header, segment), RangeOf(header, segment), habit) == SegmentProof.Proved;

    /// <summary>Judges the article. Pure: the result depends only on the evidence and the arguments.</summary>
    public SegmentProof Judge(ArticleHabit habit, bool checksCrc)
    {
        if (!IsBlock || (checksCrc && Checksum == Mark.Differs))
            return SegmentProof.Corrupt;
        var identity = IsIdentified(Number, Range, habit);
        return identity == SegmentProof.Proved && checksCrc && !IsEnough(Checksum, habit.Checksum) ? SegmentProof.Unconfirmed : identity;
    }

    /// <summary>Returns the habit that a verified article shows. If a second copy confirmed the article, a missing field was not lost in transit.</summary>
    public ArticleHabit Shows(bool isConfirmed)
    {
        return new ArticleHabit(By(Number), By(Range), By(Checksum));

        Carries By(Mark mark) => mark switch
        {
            Mark.Fits => Carries.Yes,
            Mark.Absent when isConfirmed => Carries.Never,
            _ => Carries.Unknown,
        };
    }

    /// <summary>Returns the range that a complete article claims if it contradicts the map; otherwise null.</summary>
    /// <remarks>Only an article with a number, a range, a matching length and a matching CRC can make a claim.</remarks>
    public static Segment? ClaimOf(in DecodedArticle result, Segment segment)
    {
        var header = result.Header;
        if (header.Part != segment.Index + 1 || !header.HasPartLine || header.Begin is not { } begin || header.End is not { } end)
            return null;
        if ((begin == segment.Begin && end == segment.End) || end - begin is < 0 or > SegmentMap.MaxSegmentLength || result.DecodedLength != end - begin)
            return null;
        if (result.ExpectedCrc is null || result.Trailer is null || (result.Trailer.Value.Size is { } size && size != end - begin))
            return null;
        return (result.Defects & (ArticleDefects.NoHeader | ArticleDefects.CrcMismatch)) != 0 ? null : new Segment(segment.Index, begin, (int)(end - begin));
    }

    /// <summary>Part number and range identify the article; an article with a range needs no number.</summary>
    private static SegmentProof IsIdentified(Mark number, Mark range, ArticleHabit habit)
    {
        if (number == Mark.Differs || range == Mark.Differs)
            return SegmentProof.Corrupt;
        return range is Mark.Fits or Mark.Implied || (IsEnough(range, habit.Range) && IsEnough(number, habit.Number)) ? SegmentProof.Proved : SegmentProof.Unconfirmed;
    }

    private static bool IsEnough(Mark mark, Carries habit) => mark == Mark.Fits || (mark == Mark.Absent && habit == Carries.Never);

    private static Mark NumberOf(in ArticleHeader header, Segment segment)
    {
        if (header.Part is not { } part)
            return header.HasPartField ? Mark.Unusable : Mark.Absent;
        return part == segment.Index + 1 ? Mark.Fits : Mark.Differs;
    }

    private static Mark RangeOf(in ArticleHeader header, Segment segment)
    {
        var fits = header.Begin == segment.Begin && header.End == segment.End;

        // The size may be false, so a size that does not match says nothing.
        if (!header.HasPartLine)
            return fits ? Mark.Implied : Mark.Absent;
        if (header.Begin is null || header.End is null)
            return Mark.Unusable;
        return fits ? Mark.Fits : Mark.Differs;
    }

    private static Mark ChecksumOf(in DecodedArticle result)
    {
        if (result.ExpectedCrc is null)
            return (result.Defects & ArticleDefects.UnreadableCrc) == 0 ? Mark.Absent : Mark.Unusable;
        return (result.Defects & ArticleDefects.CrcMismatch) == 0 ? Mark.Fits : Mark.Differs;
    }
}
