using Sluice.Testing;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>F18: how long a segment counts as gone, and how many bytes a damaged file may load again.</summary>
public sealed class DamageLedgerTests
{
    private static readonly TimeSpan Moment = TimeSpan.FromSeconds(1);

    private static readonly TimeSpan AskAgainAfter = TimeSpan.FromSeconds(5);

    private readonly ManualTimeProvider _time = new();
    private readonly DamageLedger _ledger;

    public DamageLedgerTests() => _ledger = new DamageLedger(new ReloadTraffic(_time), AskAgainAfter, _time);

    [Fact]
    public void F18_Missing_verdict_lasts_one_hour_and_doubles()
    {
        Assert.Null(_ledger.Find(Key(0)));
        foreach (var hours in new[] { 1, 2, 4, 8, 16, 24, 24 })
        {
            _ledger.ReportMissing(Key(0));
            AssertBelievedFor(ArticleLoss.Missing, TimeSpan.FromHours(hours));
        }
    }

    [Fact]
    public void F18_Repeated_damage_verdict_lasts_one_minute_and_doubles()
    {
        Assert.Equal(AskAgainAfter, Garbled());
        Assert.Equal((false, true, AskAgainAfter), State());
        _time.Advance(AskAgainAfter - Moment);
        Assert.Equal((false, true, Moment), State());
        _time.Advance(Moment);
        foreach (var minutes in new[] { 1, 2, 4, 8, 16, 32, 60, 60 })
        {
            Assert.Null(Garbled());
            AssertBelievedFor(ArticleLoss.Corrupt, TimeSpan.FromMinutes(minutes));
        }
    }

    [Fact]
    public void F18_Damage_too_soon_or_on_the_same_connection_is_no_proof()
    {
        Garbled("a");
        _time.Advance(AskAgainAfter - Moment);
        Assert.Equal(Moment, Garbled("b"));
        _time.Advance(Moment);
        Assert.Equal(AskAgainAfter, Garbled("b", "c"));
        _time.Advance(AskAgainAfter);
        Assert.Null(Garbled("a"));
    }

    [Fact]
    public void F18_Good_copy_clears_doubt_and_verdict()
    {
        Garbled();
        _ledger.ReportGood(Key(0));
        Assert.Null(_ledger.Find(Key(0)));

        Garbled();
        _time.Advance(AskAgainAfter);
        Garbled();
        _ledger.ReportGood(Key(0));
        Assert.Equal(AskAgainAfter, Garbled());
    }

    [Fact]
    public void F18_Missing_article_overrides_a_damage_verdict()
    {
        Garbled();
        _time.Advance(AskAgainAfter);
        Garbled();
        _ledger.ReportMissing(Key(0));
        AssertBelievedFor(ArticleLoss.Missing, TimeSpan.FromHours(1));
        Assert.Equal(AskAgainAfter, Garbled());
    }

    [Fact]
    public void F18_Unconfirmed_verdict_is_forgotten_after_two_days()
    {
        _ledger.ReportMissing(Key(0));
        _time.Advance(TimeSpan.FromHours(48));
        Assert.Null(_ledger.Find(Key(0)));
        _ledger.ReportMissing(Key(0));
        AssertBelievedFor(ArticleLoss.Missing, TimeSpan.FromHours(1));
    }

    [Fact]
    public void F18_Verdict_applies_to_one_segment_of_one_article()
    {
        _ledger.ReportMissing(Key(0));
        Assert.Null(_ledger.Find(Key(1)));
        Assert.Null(_ledger.Find(Key(0) with { Segment = new Segment(1, 100, 100) }));
        Assert.Null(_ledger.Find(Key(0) with { Ids = new SegmentIds(Key(0).Ids.Primary, [Key(1).Ids.Primary]) }));
    }

    [Fact]
    public void F18_File_may_reload_three_times_its_size_per_day()
    {
        var (file, same, other) = (new FileOrigin("film", 100), new FileOrigin("film", 100), new FileOrigin("other", 100));
        _ledger.LoadedAgain(file, 120);
        _time.Advance(TimeSpan.FromHours(23));
        _ledger.LoadedAgain(same, 130);
        Assert.Equal((50, 300), (_ledger.Left(file), _ledger.Left(other)));

        // The day starts with the first load.
        _time.Advance(TimeSpan.FromHours(1));
        Assert.Equal(300, _ledger.Left(file));
    }

    private TimeSpan? Garbled(params string[] connections) => _ledger.ReportGarbled(Key(0), connections);

    private (bool IsBelieved, bool IsDoubt, TimeSpan AskIn) State() =>
        _ledger.Find(Key(0)) is { } known ? (known.IsBelieved, known.IsDoubt, known.AskIn) : default;

    private void AssertBelievedFor(ArticleLoss loss, TimeSpan believed)
    {
        Assert.Equal(loss, _ledger.Find(Key(0))!.Loss);
        _time.Advance(believed - Moment);
        Assert.Equal((true, false, TimeSpan.Zero), State());
        _time.Advance(Moment);
        Assert.Equal((false, false, TimeSpan.Zero), State());
    }

    private static SegmentKey Key(int number) => new(new SegmentIds(MessageId.Parse($"{number}@film"), []), new Segment(0, 0, 100));
}
