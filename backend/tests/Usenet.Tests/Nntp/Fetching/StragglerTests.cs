using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Fetching;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>When an article is late, and how often it may be asked for twice (F11).</summary>
public sealed class StragglerTests
{
    private readonly ManualTimeProvider _clock = new();

    [Fact]
    public void F11_Patience_is_four_times_the_usual_silence_and_never_less_than_the_floor()
    {
        var options = new NntpOptions();
        var line = new LineEstimate(_clock);
        Silences(line, TimeSpan.FromMilliseconds(12));
        Assert.Equal(TimeSpan.FromMilliseconds(50), ConnectionClock.SilenceLimit(line, options));
        Silences(line, TimeSpan.FromMilliseconds(13));
        Assert.Equal(TimeSpan.FromMilliseconds(52), ConnectionClock.SilenceLimit(line, options));
    }

    [Fact]
    public void F11_Before_anything_is_usual_patience_follows_the_round_trip_or_the_handshake()
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
    public void F11_The_usual_silence_is_the_longest_of_nineteen_in_twenty_of_the_last_articles()
    {
        var silences = new UsualSilence();
        for (var i = 1; i <= 19; i++)
            silences.Observe(TimeSpan.FromMilliseconds(i));
        Assert.Null(silences.P95);
        silences.Observe(TimeSpan.FromSeconds(50));
        Assert.Equal(TimeSpan.FromMilliseconds(19), silences.P95);

        // Old ones make room: of the last 256 all are 5 ms but a dozen.
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
    public void F11_Second_tries_are_held_to_one_in_twenty(int fetched, int hedges)
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
