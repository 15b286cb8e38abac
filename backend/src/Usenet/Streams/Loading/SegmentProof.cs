using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>What a decoded article is worth as the copy of a segment.</summary>
internal enum SegmentProof : byte
{
    /// <summary>Identity, exact length and checksum, but for what the articles of its file never carry.</summary>
    Proved,

    /// <summary>Nothing speaks against it, but it lacks evidence that it should have: a second copy has to have the same bytes.</summary>
    Unconfirmed,

    /// <summary>Another article, another length, or damaged bytes.</summary>
    Corrupt,

    /// <summary>The right number and bytes that its own CRC proves, but another range: it may be the map that is wrong.</summary>
    Refuting,
}

/// <summary>The word of one field of an article about being the copy of a segment.</summary>
internal enum Mark : byte
{
    /// <summary>The field is not there.</summary>
    Absent,

    /// <summary>It is there, and says nothing that can be.</summary>
    Unusable,

    /// <summary>It is not there, and what else is there amounts to it: the size of a file of one part gives the range.</summary>
    Implied,

    /// <summary>It is that of the segment, or of the bytes.</summary>
    Fits,

    /// <summary>It is another one.</summary>
    Differs,
}

/// <summary>
/// Everything that an article says about being the copy of a segment (yEnc draft 1.3). The total, the size of the file and the name are
/// no part of it, because obfuscated posts lie there.
/// </summary>
/// <param name="IsBlock">Whether there is a block of exactly the length of the segment.</param>
/// <param name="Number">The number of the part.</param>
/// <param name="Range">The range of the part.</param>
/// <param name="Checksum">The checksum that covers exactly the part, against the bytes that were decoded.</param>
internal readonly record struct SegmentEvidence(bool IsBlock, Mark Number, Mark Range, Mark Checksum)
{
    /// <summary>What a whole article says.</summary>
    /// <param name="result">The decoded article.</param>
    /// <param name="segment">The segment that it was fetched for.</param>
    public static SegmentEvidence Of(in DecodedArticle result, Segment segment) => new(
        (result.Defects & (ArticleDefects.NoHeader | ArticleDefects.DamagedLine)) == 0 && result.DecodedLength == segment.Length && (result.TrailerSize ?? segment.Length) == segment.Length,
        NumberOf(result.Header, segment),
        RangeOf(result.Header, segment),
        ChecksumOf(result));

    /// <summary>
    /// Whether bytes may leave under a header before the article is whole: its part number and range are those of the segment, or the
    /// file never carries them.
    /// </summary>
    public static bool Identifies(in ArticleHeader header, Segment segment, ArticleHabit habit) =>
        IsIdentified(NumberOf(header, segment), RangeOf(header, segment), habit) == SegmentProof.Proved;

    /// <summary>Judges the article. Pure: the same evidence beside the same habit has the same worth.</summary>
    /// <param name="habit">What the articles of its file carry.</param>
    /// <param name="checksCrc">Whether checksums count.</param>
    public SegmentProof Judge(ArticleHabit habit, bool checksCrc)
    {
        if (!IsBlock || (checksCrc && Checksum == Mark.Differs))
            return SegmentProof.Corrupt;
        var identity = IsIdentified(Number, Range, habit);
        return identity == SegmentProof.Proved && checksCrc && !IsEnough(Checksum, habit.Checksum) ? SegmentProof.Unconfirmed : identity;
    }

    /// <summary>What the article has shown about its file, once it is proved.</summary>
    /// <param name="isConfirmed">Whether a second copy has the same bytes: then what it lacks was not lost on its way.</param>
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

    /// <summary>
    /// The place that a whole article claims against the map. Only one that says its number and its range, is as long as that
    /// and carries a CRC that fits has anything to say; null for every other, and where it agrees with the map.
    /// </summary>
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

    /// <summary>Part number and range decide which article it is; one that says its range need not say its number.</summary>
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

        // The size may be a lie, so one that does not fit says nothing.
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

/// <summary>An intact article says that its bytes lie elsewhere than the map does. The stream has the map corrected and goes on.</summary>
internal sealed class MapRefutedException(Segment claim) : IOException($"Article {claim.Index + 1} of the file lies elsewhere than expected.")
{
    /// <summary>Where the article says that it lies.</summary>
    public Segment Claim => claim;
}
