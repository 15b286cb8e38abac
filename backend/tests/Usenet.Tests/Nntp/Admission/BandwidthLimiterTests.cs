using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>The bandwidth limit without sockets, on a manual clock (STR-14).</summary>
public sealed class BandwidthLimiterTests : IDisposable
{
    private const OperationLane Playback = OperationLane.Playback;
    private const OperationLane Import = OperationLane.Import;
    private const OperationLane Check = OperationLane.HealthCheck;
    private const int Readers = 8;
    private const int Imports = 5;

    // 20 Mbit/s.
    private const long Limit = 2_500_000;
    private const double Window = 10;

    private PacedModel _model = new();

    public void Dispose() => _model.Dispose();

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Bandwidth_limit_is_met_and_favors_playback_over_imports(int pools)
    {
        _model = new PacedModel(pools);
        _model.Bandwidth.Configure(Limit);
        for (var reader = 0; reader < Readers; reader++)
            _model.FetchOnAndOn(PacedModel.Request(Playback, $"reader {reader}"), pool: reader % pools);
        for (var import = 0; import < Imports; import++)
            _model.FetchOnAndOn(PacedModel.Request(Import), pool: import % pools);

        for (var window = 0; window < 6; window++)
        {
            var from = _model.Now;
            _model.Run(Window);
            AssertShare(_model.Came(from), Limit * Window);
            Assert.InRange(_model.Came(from, Playback) / (double)_model.Came(from), 0.85, 1);
            Assert.True(_model.Came(from, Import) > 0, "the imports stand still");
        }

        var perReader = Enumerable.Range(0, Readers).Select(reader => _model.Ended.Count(ended => $"reader {reader}".Equals(ended.Request.Urgency?.Reader))).ToList();
        Assert.InRange(perReader.Max() - perReader.Min(), 0, 4);
    }

    [Fact]
    public void Imports_without_playback_get_the_full_limit_before_checks()
    {
        _model.Bandwidth.Configure(Limit);
        _model.FetchOnAndOn(PacedModel.Request(Check));
        _model.FetchOnAndOn(PacedModel.Request(Import));
        _model.Run(1);

        var from = _model.Now;
        _model.Run(Window);

        AssertShare(_model.Came(from, Import), Limit * Window);
        Assert.Equal(0, _model.Came(from, Check));
    }

    [Fact]
    public void Import_at_one_provider_does_not_starve_a_reader_at_another()
    {
        _model = new PacedModel(pools: 2);
        _model.Bandwidth.Configure(Limit);
        _model.FetchOnAndOn(PacedModel.Request(Import), atATime: 20, pool: 0);
        _model.FetchOnAndOn(PacedModel.Request(Playback, "reader"), atATime: 4, pool: 1);
        _model.Run(Window);

        var from = _model.Now;
        _model.Run(Window);

        Assert.InRange(_model.Came(from, Playback) / (double)_model.Came(from), 0.85, 1);
    }

    [Fact]
    public void Fetch_waiting_for_a_permit_takes_no_bandwidth_turn()
    {
        _model = new PacedModel(pools: 2, connections: 1);
        _model.Limiter.Allow(1);
        _model.Bandwidth.Configure(Limit);
        _model.Run(1);
        _model.Fetch(PacedModel.Request(Import, bytes: 1_000), pool: 1);

        var waiting = _model.Fetch(PacedModel.Request(Import, bytes: 1_000));

        // The bandwidth limit would admit the fetch, but the other account holds the only permit.
        Assert.Equal((Gate.Permit, 0L), (waiting.WaitsAt, _model.Turn()));
        _model.Run(1);
        Assert.Equal((Gate.None, 2L), (waiting.WaitsAt, _model.Turn()));
    }

    [Fact]
    public void Limit_change_applies_to_active_readers()
    {
        for (var reader = 0; reader < Readers; reader++)
            _model.FetchOnAndOn(PacedModel.Request(Playback, reader));
        _model.Run(1);
        var unlimited = _model.Came(TimeSpan.Zero);
        foreach (var limit in new[] { Limit, 4 * Limit, Limit / 4, Limit })
        {
            _model.Bandwidth.Configure(limit);
            Assert.Equal(limit, _model.Bandwidth.BytesPerSecond);

            // Articles requested before the change still arrive.
            _model.Run(2);
            var from = _model.Now;
            _model.Run(4 * Window);
            AssertShare(_model.Came(from), limit * 4 * Window);
        }

        _model.Bandwidth.Configure(0);
        _model.Run(1);
        var since = _model.Now;
        _model.Run(1);
        Assert.InRange(_model.Came(since), unlimited * 0.9, unlimited * 1.2);
        Assert.False(_model.IsPaced());
    }

    /// <summary>All requested bytes arrive at once when a silent server resumes, so the limit caps the bytes in flight.</summary>
    [Theory]
    [InlineData(4, 4 * 700_000)]
    [InlineData(2, 2_500_000)]
    public void In_flight_cap_is_one_second_or_one_article_per_connection(int connections, long most)
    {
        _model = new PacedModel(connections: connections) { LineRate = 0 };
        _model.Bandwidth.Configure(Limit);
        _model.FetchOnAndOn(PacedModel.Request(Playback, "reader"), atATime: 50);
        _model.Run(60);
        Assert.InRange(_model.Sent.Sum(sent => sent.Request.ExpectedBytes), most - PacedModel.ArticleBytes, most);
    }

    [Fact]
    public void Idle_time_accumulates_at_most_250_ms_of_bandwidth()
    {
        _model.Bandwidth.Configure(40 * Limit);
        _model.Run(3600);
        var began = _model.Now;
        _model.FetchOnAndOn(PacedModel.Request(Playback, "reader"), atATime: 200);
        Assert.InRange(_model.Sent.Count(sent => sent.At == began) * (double)PacedModel.ArticleBytes, 0, (40 * Limit * 0.25) + PacedModel.ArticleBytes);
    }

    [Fact]
    public void Limit_charges_received_bytes_not_expected_bytes()
    {
        _model.Brings = static _ => 350_000;
        _model.Bandwidth.Configure(Limit);
        _model.FetchOnAndOn(PacedModel.Request(Playback, "reader"), atATime: 20);
        _model.FetchOnAndOn(PacedModel.Request(Playback, "another", bytes: 0), atATime: 20);
        _model.Run(2);

        var from = _model.Now;
        _model.Run(Window);

        AssertShare(_model.Came(from), Limit * Window);
    }

    [Fact]
    public void Misses_do_not_count_toward_the_bandwidth_limit()
    {
        _model.Brings = static _ => 0;
        _model.Bandwidth.Configure(Limit);
        _model.FetchOnAndOn(PacedModel.Request(Playback, "reader"), atATime: 20);
        _model.Run(Window);
        Assert.InRange(_model.Ended.Count, 4 * Limit * Window / PacedModel.ArticleBytes, int.MaxValue);
    }

    [Fact]
    public void STATs_never_wait_but_count_toward_the_limit()
    {
        _model.Bandwidth.Configure(Limit / 100);
        _model.FetchOnAndOn(PacedModel.Request(Playback, "reader"));
        _model.FetchOnAndOn(PacedModel.Request(Import));
        _model.Run(1);
        Assert.True(_model.IsPaced());

        var questions = PacedModel.Request(Check, bytes: 6000) with { Stats = 100 };
        var sent = _model.Sent.Count;
        _model.Fetch(questions);
        Assert.Equal(questions, Assert.Single(_model.Sent.Skip(sent)).Request);

        // 700,000 bytes take 28 s at this limit, one of which has passed, and the answers a quarter of a second more.
        _model.Run(27.1);
        Assert.Equal(sent + 1, _model.Sent.Count);
        _model.Run(0.3);
        Assert.Equal(sent + 2, _model.Sent.Count);
    }

    [Fact]
    public void Waiting_reader_overtakes_read_ahead_under_the_limit()
    {
        _model.Bandwidth.Configure(Limit);
        _model.FetchOnAndOn(PacedModel.Request(Playback, "greedy"), atATime: 50);
        _model.Run(1);
        var sent = _model.Sent.Count;
        _model.Fetch(PacedModel.Request(Playback, "viewer", isHeadOfLine: true));
        _model.Run(1);
        Assert.Equal("viewer", _model.Sent[sent].Request.Urgency!.Reader);
    }

    /// <summary>A pool subtracts paced time from the wait after which it refuses a fetch.</summary>
    [Fact]
    public void Paced_time_counts_only_waits_caused_by_the_limit()
    {
        _model = new PacedModel(connections: 2);
        _model.Bandwidth.Configure(Limit / 100);
        _model.FetchOnAndOn(PacedModel.Request(Playback, "reader"), atATime: 4);
        _model.Run(1);
        var (before, from) = (_model.PacedFor(), _model.Now);
        _model.Run(60);

        // Meanwhile two articles of a tenth of a second each ran, and one connection was idle.
        Assert.InRange(_model.PacedFor() - before, TimeSpan.FromSeconds(58), _model.Now - from);
        Assert.Equal(TimeSpan.Zero, _model.Bandwidth.SincePaced(Playback));
        Assert.InRange(_model.Lacking(), int.MinValue, 0);

        _model.Bandwidth.Configure(0);
        _model.Run(0.1);
        before = _model.PacedFor();
        _model.Run(60);
        Assert.Equal(before, _model.PacedFor());
        Assert.InRange(_model.Bandwidth.SincePaced(Playback), TimeSpan.FromSeconds(59), TimeSpan.FromSeconds(61));
    }

    /// <summary>Outstanding bytes of a silent server block only its own pool.</summary>
    [Fact]
    public void Silent_provider_does_not_hold_up_others()
    {
        _model = new PacedModel(pools: 2, connections: 2) { LineRate = 0 };
        _model.Bandwidth.Configure(Limit);
        _model.FetchOnAndOn(PacedModel.Request(Playback, "stuck"), atATime: 50, pool: 0);
        _model.Run(Window);
        _model.LineRate = 10e6;
        _model.FetchOnAndOn(PacedModel.Request(Playback, "reader"), atATime: 2, pool: 1);
        _model.FetchOnAndOn(PacedModel.Request(Import), pool: 1);
        _model.Run(2);

        var from = _model.Now;
        _model.Run(Window);

        AssertShare(_model.Came(from), Limit * Window);
        Assert.InRange(_model.Came(from, Import), 0, _model.Came(from) * 0.15);
    }

    [Fact]
    public void Withdrawn_fetch_does_not_hold_up_others()
    {
        _model = new PacedModel(pools: 2);
        _model.Bandwidth.Configure(Limit / 10);
        _model.Fetch(PacedModel.Request(Playback, "first"));
        var unwanted = _model.Fetch(PacedModel.Request(Playback, "second"));
        _model.FetchOnAndOn(PacedModel.Request(Import), pool: 1);
        _model.Run(1);
        _model.Withdraw(unwanted);

        var from = _model.Now;
        _model.Run(10 * Window);

        AssertShare(_model.Came(from, Import), Limit / 10 * 10 * Window);
    }

    [Fact]
    public void Unlimited_bandwidth_is_never_paced()
    {
        _model.FetchOnAndOn(PacedModel.Request(Playback, "reader"), atATime: 50);
        _model.FetchOnAndOn(PacedModel.Request(Import), atATime: 50);
        _model.Run(1);
        Assert.False(_model.IsPaced());
        Assert.Equal(TimeSpan.MaxValue, _model.Bandwidth.SincePaced(Check));
        Assert.Equal(0, _model.Bandwidth.BytesPerSecond);
    }

    private static void AssertShare(double came, double expected) => Assert.InRange(came / expected, 0.95, 1.05);
}
