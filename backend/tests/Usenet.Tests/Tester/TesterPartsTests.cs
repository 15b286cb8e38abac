using System.Text;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Tools.FullNzbTester.Measure;
using Sluice.Tools.FullNzbTester.Mock;
using Sluice.Tools.FullNzbTester.Report;
using Sluice.Tools.FullNzbTester.Steps;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Usenet.Tests.Tester;

public sealed class TesterPartsTests
{
    [Fact]
    public void Soak_time_is_added_to_the_run_time_limit()
    {
        var flags = new TesterFlags();
        var read = new OptionsReader(flags, flags.Command().Parse(["--mock-server", "--soak=20"])).Read([]);
        Assert.Equal(TimeSpan.FromMinutes(30), read.TimeLimit);
    }

    [Fact]
    public void Comparison_accepts_mock_content_at_every_alignment()
    {
        var bytes = new byte[700];
        for (var offset = 0; offset < 20; offset++)
        {
            for (var length = 0; length <= 700; length += offset < 2 ? 1 : 37)
            {
                SyntheticContent.Fill(9, 3, offset, bytes.AsSpan(0, length));
                Assert.Equal(-1, SyntheticComparison.FirstDifference(9, 3, offset, bytes.AsSpan(0, length)));
            }
        }
    }

    [Fact]
    public void Comparison_finds_a_wrong_bit_at_any_position()
    {
        var bytes = new byte[331];
        SyntheticContent.Fill(9, 0, 1_000_003, bytes);
        for (var at = 0; at < bytes.Length; at++)
        {
            bytes[at] ^= 0x10;
            Assert.Equal(at, SyntheticComparison.FirstDifference(9, 0, 1_000_003, bytes));
            bytes[at] ^= 0x10;
        }
    }

    [Fact]
    public void Terminator_is_found_at_every_split_and_ends_consumption()
    {
        foreach (var body in new[] { ".\r\n", "..\r\n.\r\n", "a\r\n..b\r\n.\r\n", "\r\n.\r.\r\n\r\n.\r\n", "abc\r\n.\r\n" })
        {
            var raw = Encoding.ASCII.GetBytes(body + "222 next");
            for (var first = 0; first <= raw.Length; first++)
            {
                for (var second = first; second <= raw.Length; second++)
                    Assert.Equal(body.Length, Consume(raw, first, second));
            }
        }
    }

    [Theory]
    [InlineData(50, 3)]
    [InlineData(0, 1)]
    [InlineData(100, 5)]
    [InlineData(95, 4.8)]
    public void Percentiles_interpolate_between_values(double percent, double expected)
    {
        var samples = new Samples();
        foreach (var value in new double[] { 5, 1, 4, 2, 3 })
            samples.Add(value);
        Assert.Equal(expected, samples.Percentile(percent)!.Value, 9);
    }

    [Fact]
    public void Rate_windows_skip_both_ends_and_need_enough_samples()
    {
        var windows = new RateWindows(1);
        for (var second = 0; second < 6; second++)
            windows.Add(second + 0.5, second * 1_000_000);
        Assert.Equal([1, 2, 3, 4], windows.Rates);
        Assert.Null(windows.P05());
        windows.Add(6.1, 1);
        Assert.Equal(1.2, windows.P05()!.Value, 9);
    }

    [Fact]
    public void Trend_is_the_slope_of_a_linear_fit()
    {
        var trend = new Trend();
        Assert.Null(trend.Slope);
        foreach (var (minute, value) in new[] { (0d, 10d), (1, 13), (2, 14), (3, 19) })
            trend.Add(minute, value);
        Assert.Equal(2.8, trend.Slope!.Value, 9);
        Assert.Equal(3, trend.Minutes);
    }

    [Theory]
    [InlineData("seq_mb_s", 100, 85, "worse")]
    [InlineData("seq_mb_s", 100, 95, "same")]
    [InlineData("seq_mb_s", 100, 120, "better")]
    [InlineData("seq_ratio", 0.9, 0.7, "worse")]
    [InlineData("ttfb_warm_ms", 10, 14, "same")]
    [InlineData("ttfb_warm_ms", 100, 114, "worse")]
    [InlineData("seek_first_byte_ms.p50", 100, 80, "better")]
    [InlineData("rss_peak_mib", 50, 64, "same")]
    [InlineData("rss_peak_mib", 50, 70, "worse")]
    [InlineData("cpu_s_per_gib", 0.5, 0.6, "worse")]
    [InlineData("articles_per_seek.worst", 2, 3, "worse")]
    [InlineData("bytes_verified", 2, 3, "")]
    public void Metric_direction_decides_between_worse_and_better(string name, double before, double now, string verdict) =>
        Assert.Equal(verdict, Comparison.Judge(name, before, now, tolerancePercent: 10));

    [Theory]
    [InlineData("--size=2 --json=a --compare=b --limit=2")]
    [InlineData("--size=2 --json a --compare b --limit=2")]
    [InlineData("--size=2 --json a --tolerance 20 --compare=b --limit=2")]
    public void Compared_arguments_exclude_json_and_compare_flags(string args) => Assert.Equal("--size=2 --limit=2", Comparison.Compared(args.Split(' ')));

    [Fact]
    public void Disagreeing_counts_are_listed()
    {
        var provider = new ProviderCounts(Commands: 10, Bodies: 10, Opened: 2, Peak: 2, Refused: 0, Bytes: 0, DeepestPipeline: 4, Waiting: 0);
        var engine = new NntpCounters { Commands = 10, Bodies = 10, SocketsOpened = 2, SocketsPeak = 2 };
        Assert.Empty(Disagreements(engine, provider));
        Assert.Empty(Disagreements(engine with { Commands = 12, Bodies = 12, Unanswered = 2 }, provider));
        Assert.Contains("BODY commands: 11 and 10", Assert.Single(Disagreements(engine with { Bodies = 11 }, provider)), StringComparison.Ordinal);
        Assert.Contains("BODY commands: 9 and 10", Assert.Single(Disagreements(engine with { Bodies = 9, Unanswered = 5 }, provider)), StringComparison.Ordinal);
        Assert.Contains("connections opened", Assert.Single(Disagreements(engine with { SocketsOpened = 3 }, provider)), StringComparison.Ordinal);
        Assert.Empty(Disagreements(engine with { SocketsOpened = 1, SocketsAbandoned = 1 }, provider));
        Assert.Contains("connections opened: 0 and 2", Assert.Single(Disagreements(engine with { SocketsOpened = 0, SocketsAbandoned = 1 }, provider)), StringComparison.Ordinal);
        Assert.Contains("connections opened: 3 and 2", Assert.Single(Disagreements(engine with { SocketsOpened = 3, SocketsAbandoned = 1 }, provider)), StringComparison.Ordinal);
        Assert.Contains("at a time", Assert.Single(Disagreements(engine with { SocketsPeak = 1 }, provider)), StringComparison.Ordinal);
        Assert.Contains("over its cap", Assert.Single(Disagreements(engine, provider with { Refused = 1 })), StringComparison.Ordinal);
        Assert.Equal(2, Disagreements(engine, provider with { Peak = 5 }).Count());
    }

    private static IEnumerable<string> Disagreements(NntpCounters engine, ProviderCounts provider) =>
        MockVerdict.Disagreements(engine, new MockCounts(provider, [provider], "{}"), connections: 4);

    private static int Consume(byte[] raw, int first, int second)
    {
        var sink = new TerminatorSink();
        sink.Start(0);
        var total = 0;
        foreach (var part in new[] { raw[..first], raw[first..second], raw[second..] })
        {
            if (part.Length == 0)
                continue;
            var ended = sink.Write(part, out var consumed);
            total += consumed;
            if (ended)
                return total;
            Assert.Equal(part.Length, consumed);
        }

        return -1;
    }
}
