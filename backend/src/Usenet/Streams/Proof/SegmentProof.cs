using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Streams.Proof;

/// <summary>The verdict on a complete article as a copy of a segment.</summary>
/// <remarks>
/// Each byte served to a client belongs to an article in one of these states:
/// <code>
/// landed     The article is still arriving. Its header names the segment; settings, file and account permit it.   SegmentEvidence, TrustLedger
///            Only the segment where a reader starts is served this way, without the last bytes that the response
///            reads from it.
/// owed       Landed bytes were served. The last bytes of the segment and the end of the response wait until       SegmentDebt, StreamDebts
///            the article is proved or confirmed with the same bytes. If that fails, the stream fails for good.
/// proved     The article is complete. Identity, length and checksum fit, except for evidence that no article      ArticleVerdict, FileHabit
///            of the file carries or that the settings waive. Bytes in memory and on disk are proved.
/// confirmed  The article lacks evidence, but a second copy has the same bytes. Counts as proved.                  DoubtfulCopies
/// </code>
/// No further byte of a corrupt article is served: <see cref="TrustLedger"/> records its sender, <see cref="DamageLedger"/> decides when it is requested
/// again. If the map may be wrong instead, <see cref="IMapCorrection"/> decides. A slice at a predicted offset also needs its
/// <see cref="IExtentProof"/>.
/// </remarks>
internal enum SegmentProof : byte
{
    /// <summary>Identity, exact length and checksum match, except for evidence that the file never carries.</summary>
    Proved,

    /// <summary>Nothing contradicts it, but expected evidence is missing, so a second copy must have the same bytes.</summary>
    Unconfirmed,

    Corrupt,

    /// <summary>Right number and a matching CRC, but another range: the map may be wrong.</summary>
    Refuting,
}

/// <summary>The verdict on one complete article, with the evidence to judge it again when more is known about its file.</summary>
internal readonly record struct ArticleVerdict(SegmentEvidence Evidence, SegmentProof Proof, uint Checksum)
{
    /// <summary>Judges an article by its file's current habit. The article refutes the map if the file's correction may believe the claim.</summary>
    public static ArticleVerdict On(in DecodedArticle article, Segment segment, PostedFile file, bool checksCrc)
    {
        var evidence = SegmentEvidence.Of(article, segment);
        var proof = evidence.Judge(file.Habit.Known, checksCrc);
        if (proof == SegmentProof.Corrupt && SegmentEvidence.ClaimOf(article, segment) is { } claim && file.Correction?.MayBelieve(claim) == true)
            proof = SegmentProof.Refuting;
        return new ArticleVerdict(evidence, proof, article.ComputedCrc);
    }

    /// <summary>Whether an unconfirmed article counts as verified, now that more is known about its file.</summary>
    public bool IsProvedBy(ArticleHabit habit, bool checksCrc) => Evidence.Judge(habit, checksCrc) == SegmentProof.Proved;

    /// <summary>Whether the article is unconfirmed only because the habit of its file is unknown.</summary>
    public bool HingesUpon(ArticleHabit habit, bool checksCrc) =>
        Evidence.Judge(habit, checksCrc) == SegmentProof.Unconfirmed && IsProvedBy(habit.And(Evidence.Shows(isConfirmed: true)), checksCrc);
}

/// <summary>An intact article claims another range than the map. The stream has the map corrected and continues.</summary>
internal sealed class MapRefutedException(Segment claim) : IOException($"Article {claim.Index + 1} of the file lies elsewhere than expected.")
{
    public Segment Claim => claim;
}
