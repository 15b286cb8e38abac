using Sluice.Testing;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Reading;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

public sealed class ReadAheadPolicyTests
{
    private const int SegmentBytes = SimulatedLine.SegmentBytes;
    private const long Plenty = 1L << 40;

    [Fact]
    public void Probe_buffers_one_segment()
    {
        var policy = NewPolicy(new ManualTimeProvider());
        policy.Delivered(1024, 0, endsPiece: false);
        policy.Waited(0);
        Assert.Equal(1, policy.Target(SegmentBytes, Plenty));
    }

    [Fact]
    public void Sequential_reader_gets_two_segments_and_eight_after_a_wait()
    {
        var policy = NewPolicy(new ManualTimeProvider());
        policy.Delivered(384 * 1024, 0, endsPiece: false);
        Assert.Equal(1, policy.Target(SegmentBytes, Plenty));
        policy.Delivered(1, 0, endsPiece: false);
        Assert.Equal(2, policy.Target(SegmentBytes, Plenty));
        policy.Waited(0);
        Assert.Equal(2, policy.Target(SegmentBytes, Plenty));
        policy.Waited(1);
        Assert.Equal(8, policy.Target(SegmentBytes, Plenty));

        // Pieces 2 to 8 were requested at the same time, so a wait for one of them adds no information.
        for (var early = 2; early <= 8; early++)
            policy.Waited(early);
        Assert.Equal(8, policy.Target(SegmentBytes, Plenty));
        policy.Delivered(SegmentBytes, 8, endsPiece: true);
        policy.Waited(9);
        Assert.InRange(policy.Target(SegmentBytes, Plenty), 16, 32);
    }

    /// <summary>For a reader a bandwidth limit is like a slow line: the window shrinks while it lasts, and grows back afterwards.</summary>
    [Fact]
    public void Window_shrinks_under_a_bandwidth_limit_and_recovers()
    {
        var line = Line(1000, 50);
        line.Read(TimeSpan.FromSeconds(5));

        line.Rate = 2.5e6;
        line.Read(TimeSpan.FromSeconds(120));
        Assert.InRange(line.Target, 2, (int)(4 * line.Rate / SegmentBytes));

        line.Rate = 1000e6 / 8;
        line.Read(TimeSpan.FromSeconds(10));
        Assert.InRange(line.Target, (int)line.Needed, int.MaxValue);
        Assert.InRange(line.Read(TimeSpan.FromSeconds(5)), 0.9 * line.Rate, line.Rate * 1.01);
    }

    [Theory]
    [InlineData(150, 149, 16)]
    [InlineData(50, 118, 4)]
    public void First_increase_is_large_if_latency_is_the_limit(int toFirstByte, int toLastByte, int expected)
    {
        var time = new ManualTimeProvider();
        var policy = NewPolicy(time);
        Assert.Equal(1, policy.Target(SegmentBytes, Plenty));
        time.Advance(TimeSpan.FromMilliseconds(toFirstByte));
        policy.Delivered(1000, 0, endsPiece: false);
        time.Advance(TimeSpan.FromMilliseconds(toLastByte));
        policy.Delivered(SegmentBytes - 1000, 0, endsPiece: true);
        policy.Waited(2);
        Assert.Equal(expected, policy.Target(SegmentBytes, Plenty));
    }

    [Fact]
    public void Probe_across_a_segment_boundary_buffers_two_segments()
    {
        var time = new ManualTimeProvider();
        var policy = new ReadAheadPolicy(new StreamOptions { ProbeBytes = 10_000 }, new LineMemory(time), time);
        Assert.Equal(1, policy.Target(SegmentBytes, Plenty));
        policy.Delivered(60_000, 0, endsPiece: true);
        policy.Waited(2);
        Assert.Equal(2, policy.Target(SegmentBytes, Plenty));
    }

    [Fact]
    public void Second_increase_requests_sixteen_times_the_bytes_read()
    {
        var line = Line(5000, 150);
        line.Read(TimeSpan.FromMilliseconds(450));
        Assert.InRange(line.MostHeld, 16 * 16, 16 * 18);
    }

    [Fact]
    public void Probe_ending_a_segment_keeps_the_window_at_one()
    {
        var policy = NewPolicy(new ManualTimeProvider());
        policy.Delivered(1000, 0, endsPiece: true);
        policy.Waited(1);
        Assert.Equal(1, policy.Target(SegmentBytes, Plenty));
    }

    [Theory]
    [InlineData(100, 50)]
    [InlineData(300, 50)]
    [InlineData(300, 150)]
    [InlineData(1000, 5)]
    [InlineData(1000, 50)]
    [InlineData(1000, 150)]
    [InlineData(5000, 1)]
    [InlineData(5000, 50)]
    public void Greedy_reader_fills_the_line_with_a_bandwidth_delay_window(int megabits, int milliseconds)
    {
        var line = Line(megabits, milliseconds);
        line.Read(TimeSpan.FromSeconds(3));
        var rate = line.Read(TimeSpan.FromSeconds(20));
        Assert.InRange(rate / line.Rate, 0.95, 1.05);
        Assert.InRange(line.Target, line.Needed, (8 * line.Needed) + 2);
        Assert.InRange(line.MostHeld, line.Needed, (16 * line.Needed) + 4);
    }

    [Theory]
    [InlineData(1000, 50)]
    [InlineData(5000, 50)]
    [InlineData(1000, 150)]
    public void Window_stays_within_64_MiB_if_bandwidth_delay_fits(int megabits, int milliseconds)
    {
        const int Ample = ((64 << 20) / SegmentBytes) + 1;
        var line = Line(megabits, milliseconds);
        line.Read(TimeSpan.FromSeconds(10));
        for (var second = 0; second < 20; second++)
        {
            Assert.InRange(line.Read(TimeSpan.FromSeconds(1)) / line.Rate, 0.9, 1.1);
            Assert.InRange(line.Target, line.Needed, Ample);
        }
    }

    [Fact]
    public void Ramp_buffers_at_most_the_fastest_bandwidth_delay_product()
    {
        var near = Line(5000, 50);
        near.Read(TimeSpan.FromSeconds(10));
        Assert.InRange(near.MostHeld, near.Needed, 1.5e9 * 0.05 / SegmentBytes);
        var far = Line(5000, 150);
        far.Read(TimeSpan.FromSeconds(10));
        Assert.InRange(far.MostHeld, far.Needed, 1.5e9 * 0.15 / SegmentBytes);
    }

    [Theory]
    [InlineData(1000, 50, 0.8)]
    [InlineData(5000, 50, 0.7)]
    [InlineData(1000, 150, 0.5)]
    [InlineData(5000, 150, 0.3)]
    public void First_second_on_an_unknown_line_reaches_much_of_its_rate(int megabits, int milliseconds, double share)
    {
        var line = Line(megabits, milliseconds);
        Assert.InRange(line.Read(TimeSpan.FromSeconds(1)) / line.Rate, share, 1);
    }

    [Fact]
    public void Window_respects_the_memory_share_but_allows_two_segments()
    {
        var line = Line(5000, 150);
        line.Share = 20 * SegmentBytes;
        line.Read(TimeSpan.FromSeconds(5));
        Assert.Equal(20, line.Target);
        Assert.Equal(20, line.MostHeld);
        line.Share = 1;
        Assert.Equal(2, line.Target);
    }

    [Fact]
    public void Paced_reader_on_a_fast_line_buffers_few_segments()
    {
        var line = Line(1000, 50);
        line.Pace = 25e6 / 8;
        line.Read(TimeSpan.FromSeconds(60));
        Assert.InRange(line.MostHeld, 1, 4);
    }

    [Fact]
    public void Slowed_reader_buffers_four_seconds_and_recovers_full_speed()
    {
        var line = Line(5000, 50);
        line.Read(TimeSpan.FromSeconds(5));
        Assert.True(line.Target > 40);
        line.Pace = 2e6;
        line.Read(TimeSpan.FromSeconds(30));
        Assert.InRange(line.Target, 2, (int)(4 * line.Pace / SegmentBytes));

        line.Pace = double.PositiveInfinity;
        line.Read(TimeSpan.FromSeconds(10));
        Assert.InRange(line.Read(TimeSpan.FromSeconds(10)) / line.Rate, 0.9, 1.05);
    }

    [Fact]
    public void Window_follows_round_trip_and_rate_changes()
    {
        var line = Line(1000, 50);
        line.Read(TimeSpan.FromSeconds(5));
        line.RoundTrip = TimeSpan.FromMilliseconds(150);
        line.Read(TimeSpan.FromSeconds(60));
        Assert.InRange(line.Read(TimeSpan.FromSeconds(10)) / line.Rate, 0.9, 1.05);

        line.Rate /= 10;
        line.Read(TimeSpan.FromSeconds(60));
        Assert.InRange(line.Target, line.Needed, (8 * line.Needed) + 2);
    }

    [Fact]
    public void Reader_after_a_seek_reuses_the_known_line_rate()
    {
        var line = Line(5000, 150);
        line.Read(TimeSpan.FromSeconds(10));
        line.Seek();
        line.Pause(TimeSpan.FromSeconds(1));
        line.Read(TimeSpan.FromSeconds(0.3));
        Assert.InRange(line.MostHeld, 1, 30);
        line.Read(TimeSpan.FromSeconds(0.7));
        Assert.InRange(line.MostHeld, line.Needed, 8 * line.Needed);
    }

    [Theory]
    [InlineData(300, 50)]
    [InlineData(1000, 50)]
    [InlineData(5000, 150)]
    public void Late_article_does_not_shrink_a_greedy_window(int megabits, int milliseconds)
    {
        var line = Line(megabits, milliseconds);
        line.Read(TimeSpan.FromSeconds(10));
        var before = line.Target;
        line.MakeLate(TimeSpan.FromSeconds(1));
        line.Read(TimeSpan.FromSeconds(3));
        Assert.InRange(line.Target, before, before + (2 * line.Rate / SegmentBytes));
        Assert.InRange(line.LongestWait.TotalSeconds, 0.3, 1.5);
    }

    [Theory]
    [InlineData(25)]
    [InlineData(80)]
    public void Paced_reader_waits_for_one_late_article_but_not_the_next(int paceMegabits)
    {
        var line = Line(300, 50);
        line.Pace = paceMegabits * 1e6 / 8;
        line.Read(TimeSpan.FromSeconds(10));
        line.MakeLate(TimeSpan.FromSeconds(1));
        line.Read(TimeSpan.FromSeconds(10));
        Assert.InRange(line.LongestWait.TotalSeconds, 0.3, 1.5);
        for (var i = 0; i < 5; i++)
        {
            line.MakeLate(TimeSpan.FromSeconds(1));
            line.Read(TimeSpan.FromSeconds(10));
            Assert.InRange(line.LongestWait.TotalSeconds, 0, 0.25);
        }
    }

    [Theory]
    [InlineData(1000)]
    [InlineData(5000)]
    public void Second_reader_reaches_the_window_within_three_round_trips(int megabits)
    {
        var line = Line(megabits, 150);
        line.Read(TimeSpan.FromSeconds(10));
        line.Seek();
        line.Pause(TimeSpan.FromSeconds(1));
        line.Read(TimeSpan.FromMilliseconds(3 * 150));
        Assert.InRange(line.MostHeld, Math.Min(line.Needed, 100), 16 * line.Needed);
    }

    [Fact]
    public void Reset_after_a_pause_shrinks_the_window()
    {
        var time = new ManualTimeProvider();
        var policy = NewPolicy(time);
        Assert.Equal(1, policy.Target(SegmentBytes, Plenty));
        policy.Delivered(SegmentBytes, 0, endsPiece: true);
        policy.Waited(2);
        Assert.Equal(16, policy.Target(SegmentBytes, Plenty));
        policy.Reset(2);
        Assert.Equal(2, policy.Target(SegmentBytes, Plenty));
        policy.Reset(1);
        Assert.Equal(1, policy.Target(SegmentBytes, Plenty));
    }

    [Theory]
    [InlineData(50, 1)]
    [InlineData(50, 6)]
    [InlineData(150, 1)]
    [InlineData(150, 6)]
    public void Disk_cached_segments_do_not_slow_the_window_growth(int milliseconds, int onDisk)
    {
        for (var seed = 0; seed < 50; seed++)
            Assert.InRange(Film(seed, onDisk) / Film(seed, 0), 0, 1);

        TimeSpan Film(int seed, int segments) => Wide(seed, milliseconds, segments).ReadTo(714);
    }

    [Theory]
    [InlineData(50, 300)]
    [InlineData(150, 800)]
    public void Window_grows_to_the_line_rate_as_connections_join(int milliseconds, int widensFor)
    {
        for (var seed = 0; seed < 50; seed++)
        {
            var line = Wide(seed, milliseconds, onDisk: 6, widensFor);
            line.ReadTo(714);
            Assert.InRange(line.ReadTo(1428).TotalSeconds, 0, 1.1 * 714 * SegmentBytes / line.Rate);
        }
    }

    private static SimulatedLine Wide(int seed, int milliseconds, int onDisk, int widensFor = 0) => new(seed)
    {
        Rate = milliseconds == 150 ? 0.7e9 : 1.25e9,
        RoundTrip = TimeSpan.FromMilliseconds(milliseconds),
        Jitter = 0.2,
        Share = 128 << 20,
        Pace = 2e9,
        OnDisk = onDisk,
        WidensFor = TimeSpan.FromMilliseconds(widensFor),
    };

    private static SimulatedLine Line(double megabits, double milliseconds) =>
        new() { Rate = megabits * 1e6 / 8, RoundTrip = TimeSpan.FromMilliseconds(milliseconds), Jitter = 0.2 };

    private static ReadAheadPolicy NewPolicy(ManualTimeProvider time) => new(new StreamOptions(), new LineMemory(time), time);
}
