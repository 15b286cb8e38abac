using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>Length of the queue on a line shared by a pool of 20 connections with greedy readers, because a new reader waits behind it.</summary>
public sealed class LineCeilingTests
{
    private const int Connections = 20;
    private const int Depth = 4;
    private const int Article = 700_000;
    private const double Thin = 37.5e6;
    private const double Wide = 1e9;

    // The scheduler compares readers by reference.
    private static readonly string[] Names = [.. Enumerable.Range(0, 8).Select(reader => $"greedy {reader}")];

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(8)]
    public void Saturated_line_stays_full_with_a_short_queue(int readers)
    {
        var model = Greedy(readers, Thin);
        Read(model, 300);
        var (from, bytes) = (model.Now, model.Delivered);
        var most = Read(model, 300);

        // One article arriving and a round trip's worth behind it; the same amount may be queued, and the measurement varies.
        var needed = 1 + (Thin * model.RoundTrip.TotalSeconds / Article);
        Assert.InRange(most, needed, 3 * needed);
        Assert.InRange((model.Delivered - bytes) / (model.Now - from).TotalSeconds, 0.97 * Thin, 1.01 * Thin);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(8)]
    public void Wide_line_uses_every_connection_at_full_depth(int readers)
    {
        var model = Greedy(readers, Wide);
        Assert.Equal(Connections * Depth, Read(model, 2000));
    }

    [Fact]
    public void Waiting_reader_is_served_at_once_on_a_full_line()
    {
        var model = Greedy(2, Thin);
        Read(model, 300);
        for (var i = 0; i < 8; i++)
        {
            model.Fetch(model.Pools[0], SchedulerModel.Request(OperationLane.Playback, $"landing {i}", Article, isHeadOfLine: true));
            Assert.Equal($"landing {i}", model.Granted[^1].Urgency!.Reader);
        }
    }

    /// <summary>Import heads are whole articles on the line, so a viewer would wait for all of them if many were requested.</summary>
    [Fact]
    public void Imports_on_a_full_line_progress_with_a_short_queue()
    {
        var model = FilmBesideImports(Thin);
        var before = model.Granted.Count;
        var most = Read(model, 300);

        var needed = 1 + (Thin * model.RoundTrip.TotalSeconds / Article);
        Assert.InRange(most, needed, 3 * needed);
        Assert.InRange(model.Granted.Skip(before).Count(request => request.Lane == OperationLane.Import), 10, 150);
    }

    [Fact]
    public void Imports_during_playback_get_a_fifth_of_the_connections()
    {
        var model = FilmBesideImports(Wide);
        Assert.Equal(Connections * Depth, Read(model, 1000));
        Assert.Equal(Connections / 5 * Depth, model.Pools[0].Running.Count(running => running.Request.Lane == OperationLane.Import));
    }

    [Fact]
    public void Second_reader_ramps_up_step_by_step()
    {
        var model = Model(Wide);
        model.Fetch(model.Pools[0], SchedulerModel.Request(OperationLane.Playback, "one", Article, isHeadOfLine: true));
        model.Step();
        model.Fetch(model.Pools[0], SchedulerModel.Request(OperationLane.Playback, "other", Article, isHeadOfLine: true));
        for (var i = 0; i < 40; i++)
            model.Fetch(model.Pools[0], SchedulerModel.Request(OperationLane.Playback, "one", Article));

        Assert.Equal(2, model.Pools[0].Running.Count);
    }

    [Fact]
    public void Full_line_keeps_throughput_after_a_longer_round_trip()
    {
        var model = Greedy(1, Thin);
        Read(model, 300);
        model.RoundTrip *= 6;
        Read(model, 1000);
        var (from, bytes) = (model.Now, model.Delivered);
        Read(model, 500);

        Assert.InRange((model.Delivered - bytes) / (model.Now - from).TotalSeconds, 0.5 * Thin, 1.01 * Thin);
    }

    [Theory]
    [InlineData(0.05, 0.15)]
    [InlineData(0.05, 0.5)]
    [InlineData(0.02, 0.2)]
    public void Wide_line_adapts_to_a_longer_round_trip_quickly(double before, double after)
    {
        for (var seed = 0; seed < 50; seed++)
        {
            var line = new LongLine(new Random(seed));
            line.Play(before, 20);
            Assert.Equal(long.MaxValue, line.Ceiling.Own);
            line.Play(after, 6);
            var asked = line.Asked;
            line.Play(after, 4);
            Assert.InRange(line.Asked - asked, 4 * 0.9 * Connections * Depth, double.MaxValue);
        }
    }

    [Fact]
    public void Ceiling_after_a_burst_still_keeps_the_line_full()
    {
        // While a reader waits for a late article, all others of its window arrive; then it requests the same number again at once.
        const int Burst = 100;
        const double RoundTrip = 0.05;
        var ceiling = new LineCeiling();
        ceiling.Ended(Article, RoundTrip, Article, 0, RoundTrip);
        for (var i = 1; i <= Burst; i++)
            ceiling.Ended(Article, RoundTrip + (i * Article / Wide), i * Article, (Burst - i) * Article, (2 * RoundTrip) + (i * Article / Wide));
        Assert.InRange(ceiling.Own, RoundTrip * Wide, 3 * RoundTrip * Wide);
    }

    [Fact]
    public void Ceiling_is_lifted_on_a_wide_line_despite_jitter()
    {
        var dice = new Random(3);
        var ceiling = new LineCeiling();
        ceiling.Ended(Article, 0.04, Article, 0, 0.04);
        for (var i = 0; i < 30; i++)
            ceiling.Ended(Article, 0.2, 8 * Article, 7 * Article, 0.3);
        Assert.InRange(ceiling.Own, 1, 8 * Article);

        // A reply behind a slower one takes as long as that.
        for (var i = 0; i < 60; i++)
            ceiling.Ended(Article, 0.04 + (0.02 * Math.Max(dice.NextDouble(), dice.NextDouble())), 8 * Article, 7 * Article, 1);
        Assert.Equal(long.MaxValue, ceiling.Own);
    }

    /// <summary>Imports start before the film and then fall back to their share.</summary>
    private static SchedulerModel FilmBesideImports(double rate)
    {
        var model = Model(rate);
        for (var i = 0; i < 400; i++)
            model.Fetch(model.Pools[0], SchedulerModel.Request(OperationLane.Import, bytes: Article));
        for (var i = 0; i < 200; i++)
            model.Fetch(model.Pools[0], SchedulerModel.Request(OperationLane.Playback, Names[0], Article));
        Read(model, 1000);
        return model;
    }

    private static SchedulerModel Model(double rate)
    {
        var model = new SchedulerModel(1, 0, Depth, rate);
        model.Limiter.Allow(Connections);
        for (var i = 0; i < Connections; i++)
            model.Open(model.Pools[0]);
        return model;
    }

    /// <summary>Each reader requests more articles ahead than any line can carry.</summary>
    private static SchedulerModel Greedy(int readers, double rate)
    {
        var model = Model(rate);
        for (var i = 0; i < 200; i++)
        {
            for (var reader = 0; reader < readers; reader++)
                model.Fetch(model.Pools[0], SchedulerModel.Request(OperationLane.Playback, Names[reader], Article));
        }

        return model;
    }

    /// <summary>Completes some articles; each reader then requests another.</summary>
    /// <returns>Most articles in flight after a completion.</returns>
    private static int Read(SchedulerModel model, int articles)
    {
        var most = 0;
        for (var i = 0; i < articles; i++)
        {
            var before = model.Granted.Count;
            Assert.True(model.Step());
            for (var granted = before; granted < model.Granted.Count; granted++)
                model.Fetch(model.Pools[0], model.Granted[granted] with { });
            most = Math.Max(most, model.Pools[0].Running.Count);
        }

        return most;
    }

    /// <summary>A line with spare capacity: each article arrives a round trip later, give or take a fifth, and requests go up to the ceiling.</summary>
    private sealed class LongLine(Random dice)
    {
        private readonly PriorityQueue<(double At, long Before), double> _underWay = new();
        private double _now;

        public LineCeiling Ceiling { get; } = new();

        public int Asked { get; private set; }

        public void Play(double roundTrip, int roundTrips)
        {
            for (var until = _now + (roundTrips * roundTrip); _now < until;)
            {
                while (_underWay.Count < Connections * Depth && (_underWay.Count == 0 || _underWay.Count * (long)Article < Ceiling.Own))
                {
                    _underWay.Enqueue((_now, (_underWay.Count + 1) * (long)Article), _now + (roundTrip * (0.8 + (0.4 * dice.NextDouble()))));
                    Asked++;
                }

                _underWay.TryDequeue(out var article, out _now);
                Ceiling.Ended(Article, _now - article.At, article.Before, _underWay.Count * (long)Article, _now);
            }
        }
    }
}
