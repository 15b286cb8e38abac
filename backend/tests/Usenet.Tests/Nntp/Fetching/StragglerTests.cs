using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Fetching;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>When an article counts as late, and how often it may be hedged (F11).</summary>
public sealed class StragglerTests
{
    private readonly ManualTimeProvider _clock = new();

    [Fact]
    public void F11_Silence_limit_is_four_times_the_P95_with_a_floor()
    {
        var options = new NntpOptions();
        var line = new LineEstimate(_clock);
        Silences(line, TimeSpan.FromMilliseconds(12));
        Assert.Equal(TimeSpan.FromMilliseconds(50), ConnectionClock.SilenceLimit(line, options));
        Silences(line, TimeSpan.FromMilliseconds(13));
        Assert.Equal(TimeSpan.FromMilliseconds(52), ConnectionClock.SilenceLimit(line, options));
    }

    [Fact]
    public void F11_Initial_silence_limit_follows_round_trip_or_handshake()
    {
        var options = new NntpOptions();
        var line = new LineEstimate(_clock);
        Assert.Equal(TimeSpan.FromMilliseconds(600), ConnectionClock.SilenceLimit(line, options));
        var from = _clock.GetTimestamp();
        _clock.Advance(TimeSpan.FromMilliseconds(150));
        line.ObserveHandshake(from);
        Assert.Equal(TimeSpan.FromMilliseconds(450), ConnectionClock.SilenceLimit(line, options));
        line.ObserveRoundTrip(from);
        Assert.Equal(TimeSpan.FromMilliseconds(300), ConnectionClock.SilenceLimit(line, options));
    }

    [Fact]
    public void F11_Usual_silence_is_the_P95_of_recent_articles()
    {
        var silences = new UsualSilence();
        for (var i = 1; i <= 19; i++)
            silences.Observe(TimeSpan.FromMilliseconds(i));
        Assert.Null(silences.P95);
        silences.Observe(TimeSpan.FromSeconds(50));
        Assert.Equal(TimeSpan.FromMilliseconds(19), silences.P95);

        // Old samples are dropped: of the last 256, all but twelve are 5 ms.
        for (var i = 0; i < 264; i++)
            silences.Observe(TimeSpan.FromMilliseconds(i is >= 8 and < 20 ? 900 : 5));
        Assert.Equal(TimeSpan.FromMilliseconds(5), silences.P95);
    }

    [Theory]
    [InlineData(0, 4)]
    [InlineData(19, 4)]
    [InlineData(20, 5)]
    [InlineData(100, 9)]
    [InlineData(100_000, 16)]
    public void F11_Hedges_are_limited_to_one_in_twenty(int fetched, int hedges)
    {
        var budget = new HedgeBudget();
        for (var i = 0; i < fetched; i++)
            budget.Fetched();
        var granted = 0;
        while (budget.TrySpend())
            granted++;
        Assert.Equal(hedges, granted);
    }

    private static void Silences(LineEstimate line, TimeSpan each)
    {
        for (var i = 0; i < 512; i++)
            line.Silences.Observe(each);
    }
}
