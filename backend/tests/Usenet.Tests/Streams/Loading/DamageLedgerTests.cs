using Sluice.Testing;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>F18: for how long a segment is taken for gone, and how much a damaged file may load again.</summary>
public sealed class DamageLedgerTests
{
    private static readonly TimeSpan Moment = TimeSpan.FromSeconds(1);

    private readonly ManualTimeProvider _time = new();
    private readonly DamageLedger _ledger;

    public DamageLedgerTests() => _ledger = new DamageLedger(new ReloadTraffic(_time), _time);

    [Fact]
    public void F18_verdict_that_is_confirmed_is_believed_for_twice_as_long_up_to_a_day()
    {
        Assert.Null(_ledger.Find(Key(0)));
        foreach (var hours in new[] { 1, 2, 4, 8, 16, 24, 24 })
        {
            _ledger.Gone(Key(0), ArticleLoss.Missing);
            _time.Advance(TimeSpan.FromHours(hours) - Moment);
            Assert.Equal((ArticleLoss.Missing, true), _ledger.Find(Key(0)));
            _time.Advance(Moment);
            Assert.Equal((ArticleLoss.Missing, false), _ledger.Find(Key(0)));
        }
    }

    [Fact]
    public void F18_verdict_that_nothing_has_confirmed_for_two_days_is_forgotten()
    {
        _ledger.Gone(Key(0), ArticleLoss.Missing);
        _time.Advance(TimeSpan.FromHours(1));
        _ledger.Gone(Key(0), ArticleLoss.Corrupt);
        _time.Advance(TimeSpan.FromHours(48));
        Assert.Null(_ledger.Find(Key(0)));

        _ledger.Gone(Key(0), ArticleLoss.Missing);
        _time.Advance(TimeSpan.FromHours(1));
        Assert.Equal((ArticleLoss.Missing, false), _ledger.Find(Key(0)));
    }

    [Fact]
    public void F18_verdict_is_of_one_place_of_one_article()
    {
        _ledger.Gone(Key(0), ArticleLoss.Missing);
        Assert.Null(_ledger.Find(Key(1)));
        Assert.Null(_ledger.Find(Key(0) with { Segment = new Segment(1, 100, 100) }));
        Assert.Null(_ledger.Find(Key(0) with { Ids = new SegmentIds(Key(0).Ids.Primary, [Key(1).Ids.Primary]) }));
    }

    [Fact]
    public void F18_file_may_load_three_times_its_size_again_in_a_day()
    {
        var (file, same, other) = (new FileOrigin("film", 100), new FileOrigin("film", 100), new FileOrigin("other", 100));
        _ledger.LoadedAgain(file, 120);
        _time.Advance(TimeSpan.FromHours(23));
        _ledger.LoadedAgain(same, 130);
        Assert.Equal((50, 300), (_ledger.Left(file), _ledger.Left(other)));

        // The day began with the first of them.
        _time.Advance(TimeSpan.FromHours(1));
        Assert.Equal(300, _ledger.Left(file));
    }

    private static SegmentKey Key(int number) => new(new SegmentIds(MessageId.Parse($"{number}@film"), []), new Segment(0, 0, 100));
}
