using System.Buffers;
using System.Collections.Concurrent;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>F18: the verdict on an article from its own fields and the habits of its file.</summary>
public sealed class SegmentEvidenceTests
{
    private const int Articles = 200_000;

    private static readonly Mark[] Marks = Enum.GetValues<Mark>();
    private static readonly Carries[] Habits = Enum.GetValues<Carries>();

    [Fact]
    public void F18_Each_pair_of_evidence_and_habit_has_the_right_verdict()
    {
        var verdicts = new Dictionary<SegmentProof, int>();
        foreach (var isBlock in new[] { true, false })
        {
            foreach (var (number, range, checksum) in from n in Marks from r in Marks from c in Marks select (n, r, c))
            {
                foreach (var habit in from n in Habits from r in Habits from c in Habits select new ArticleHabit(n, r, c))
                {
                    foreach (var checks in new[] { true, false })
                    {
                        var expected = Verdict(isBlock, number, range, checksum, habit, checks);
                        Assert.Equal(expected, new SegmentEvidence(isBlock, number, range, checksum).Judge(habit, checks));
                        verdicts[expected] = verdicts.GetValueOrDefault(expected) + 1;
                    }
                }
            }
        }

        Assert.Equal(3, verdicts.Count);
    }

    [Theory]
    // A file whose articles carry every field.
    [InlineData(Mark.Fits, Mark.Fits, Mark.Fits, Carries.Yes, SegmentProof.Proved)]
    [InlineData(Mark.Fits, Mark.Fits, Mark.Differs, Carries.Yes, SegmentProof.Corrupt)]
    [InlineData(Mark.Fits, Mark.Fits, Mark.Absent, Carries.Yes, SegmentProof.Unconfirmed)]
    [InlineData(Mark.Fits, Mark.Fits, Mark.Unusable, Carries.Yes, SegmentProof.Unconfirmed)]
    [InlineData(Mark.Fits, Mark.Absent, Mark.Fits, Carries.Yes, SegmentProof.Unconfirmed)]
    [InlineData(Mark.Fits, Mark.Unusable, Mark.Fits, Carries.Yes, SegmentProof.Unconfirmed)]
    [InlineData(Mark.Fits, Mark.Differs, Mark.Fits, Carries.Yes, SegmentProof.Corrupt)]
    [InlineData(Mark.Differs, Mark.Fits, Mark.Fits, Carries.Yes, SegmentProof.Corrupt)]
    [InlineData(Mark.Absent, Mark.Fits, Mark.Fits, Carries.Yes, SegmentProof.Proved)]
    [InlineData(Mark.Absent, Mark.Implied, Mark.Fits, Carries.Yes, SegmentProof.Proved)]
    // A file whose articles never carry a field, and a file of unknown habits.
    [InlineData(Mark.Fits, Mark.Absent, Mark.Absent, Carries.Never, SegmentProof.Proved)]
    [InlineData(Mark.Absent, Mark.Absent, Mark.Absent, Carries.Never, SegmentProof.Proved)]
    [InlineData(Mark.Fits, Mark.Unusable, Mark.Absent, Carries.Never, SegmentProof.Unconfirmed)]
    [InlineData(Mark.Fits, Mark.Fits, Mark.Unusable, Carries.Never, SegmentProof.Unconfirmed)]
    [InlineData(Mark.Fits, Mark.Fits, Mark.Differs, Carries.Never, SegmentProof.Corrupt)]
    [InlineData(Mark.Fits, Mark.Fits, Mark.Absent, Carries.Unknown, SegmentProof.Unconfirmed)]
    [InlineData(Mark.Fits, Mark.Absent, Mark.Fits, Carries.Unknown, SegmentProof.Unconfirmed)]
    internal void Evidence_is_judged_against_a_uniform_file_habit(Mark number, Mark range, Mark checksum, Carries habit, SegmentProof expected) =>
        Assert.Equal(expected, new SegmentEvidence(true, number, range, checksum).Judge(new ArticleHabit(habit, habit, habit), checksCrc: true));

    [Fact]
    public void Present_field_shows_a_habit_and_absence_needs_confirmation()
    {
        var all = new SegmentEvidence(true, Mark.Fits, Mark.Fits, Mark.Fits);
        var none = new SegmentEvidence(true, Mark.Absent, Mark.Absent, Mark.Absent);
        Assert.Equal(new ArticleHabit(Carries.Yes, Carries.Yes, Carries.Yes), all.Shows(isConfirmed: false));
        Assert.Equal(default, none.Shows(isConfirmed: false));
        Assert.Equal(new ArticleHabit(Carries.Never, Carries.Never, Carries.Never), none.Shows(isConfirmed: true));
        Assert.Equal(default, new SegmentEvidence(true, Mark.Unusable, Mark.Implied, Mark.Unusable).Shows(isConfirmed: true));
        Assert.Equal(all.Shows(isConfirmed: false), none.Shows(isConfirmed: true).And(all.Shows(isConfirmed: false)));
        Assert.Equal(all.Shows(isConfirmed: false), all.Shows(isConfirmed: false).And(none.Shows(isConfirmed: true)));
    }

    [Fact]
    public void Habit_is_reported_only_if_new_facts_are_learned()
    {
        var told = new List<ArticleHabit>();
        var habit = new FileHabit(default, told.Add);
        var never = new ArticleHabit(Carries.Yes, Carries.Yes, Carries.Never);
        habit.Learn(never);
        habit.Learn(never);
        habit.Learn(default);
        var yes = never with { Checksum = Carries.Yes };
        habit.Learn(yes);
        habit.Learn(never);
        Assert.Equal([never, yes], told);
        Assert.Equal(yes, habit.Known);
    }

    [Fact]
    public void Habit_survives_packing_and_invalid_values_are_unknown()
    {
        foreach (var habit in from n in Habits from r in Habits from c in Habits select new ArticleHabit(n, r, c))
            Assert.Equal(habit, ArticleHabit.Unpack(habit.Pack()));
        Assert.Equal(27, Enumerable.Range(0, 64).Select(packed => ArticleHabit.Unpack(packed)).Distinct().Count());
        foreach (var packed in new[] { 3L, 0xC, 0x30, 0x3F, 64, -1, long.MaxValue, long.MinValue })
            Assert.Equal(default, ArticleHabit.Unpack(packed));
    }

    /// <summary>
    /// Damage to header, data and trailer, with siblings that have checksums, siblings without, and no known siblings: each article gets the
    /// right verdict, and none with wrong bytes is proved.
    /// </summary>
    [Fact]
    public void F18_200000_mutated_articles_each_get_the_right_verdict()
    {
        var segment = new ConcurrentDictionary<(string Way, SegmentProof Verdict), int>();
        Parallel.For(0, Articles, () => (Decoder: new ArticleDecoder(), Output: new ArrayBufferWriter<byte>(8192)), (i, _, tools) =>
        {
            var article = new MutatedArticle(i, longest: 700);
            var (decoder, output) = tools;
            decoder.Reset();
            output.ResetWrittenCount();
            Assert.True(decoder.Decode(article.Wire, output, out var consumed), $"seed {i}, {article.Way}: no end");
            Assert.Equal(article.Wire.Length, consumed);
            var evidence = SegmentEvidence.Of(decoder.GetResult(), new Segment(1, MutatedArticle.Begin, article.Data.Length));
            var isRight = output.WrittenSpan.SequenceEqual(article.Data);
            foreach (var siblings in Enum.GetValues<MutatedArticle.Siblings>())
            {
                var verdict = evidence.Judge(HabitOf(siblings), checksCrc: true);
                segment.AddOrUpdate((article.Way, verdict), 1, static (_, count) => count + 1);
                var expected = article.HasGoodKeywords ? (isRight ? SegmentProof.Proved : SegmentProof.Corrupt) : article.ExpectedBeside(siblings);
                Assert.True(expected is null || expected == verdict, $"seed {i}, {article.Way}, {siblings}: {verdict} in place of {expected}");

                // If neither the article nor its siblings have a checksum, nothing reveals flipped bits.
                if (verdict == SegmentProof.Proved && !isRight && !(siblings == MutatedArticle.Siblings.WithoutChecksums && evidence.Checksum == Mark.Absent))
                    Assert.Fail($"seed {i}, {article.Way}, {siblings}: wrong bytes are proved");
            }

            return tools;
        }, static _ => { });

        // The test proves something only if random damage leads to every verdict.
        foreach (var verdict in new[] { SegmentProof.Proved, SegmentProof.Unconfirmed, SegmentProof.Corrupt })
            Assert.True(segment.GetValueOrDefault(("bits in header and trailer", verdict)) > 100, $"{verdict}");
        Assert.InRange(segment.Keys.Select(key => key.Way).Distinct().Count(), MutatedArticle.Ways - 2, MutatedArticle.Ways);
    }

    private static ArticleHabit HabitOf(MutatedArticle.Siblings siblings) => siblings switch
    {
        MutatedArticle.Siblings.WithChecksums => new ArticleHabit(Carries.Yes, Carries.Yes, Carries.Yes),
        MutatedArticle.Siblings.WithoutChecksums => new ArticleHabit(Carries.Yes, Carries.Yes, Carries.Never),
        _ => default,
    };

    /// <summary>Applies the rule in the order of the contract.</summary>
    private static SegmentProof Verdict(bool isBlock, Mark number, Mark range, Mark checksum, ArticleHabit habit, bool checksCrc)
    {
        // Another article, another length, damaged bytes.
        if (!isBlock || number == Mark.Differs || range == Mark.Differs)
            return SegmentProof.Corrupt;
        if (checksCrc && checksum == Mark.Differs)
            return SegmentProof.Corrupt;

        // An unreadable field is a defect in every file; an absent one only if the file may carry it, as files of unknown habits do.
        var rangeIsMissed = range == Mark.Unusable || (range == Mark.Absent && habit.Range != Carries.Never);
        var checksumIsMissed = checksum is Mark.Unusable or Mark.Implied || (checksum == Mark.Absent && habit.Checksum != Carries.Never);

        // Without ranges only the part number identifies the article.
        var numberIsMissed = range == Mark.Absent && (number is Mark.Unusable or Mark.Implied || (number == Mark.Absent && habit.Number != Carries.Never));
        return rangeIsMissed || numberIsMissed || (checksCrc && checksumIsMissed) ? SegmentProof.Unconfirmed : SegmentProof.Proved;
    }
}
