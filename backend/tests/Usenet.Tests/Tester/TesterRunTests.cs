using System.Globalization;
using System.Text.Json;
using Xunit;

namespace Sluice.Usenet.Tests.Tester;

public sealed class TesterRunTests
{
    [Fact]
    public async Task Clean_release_is_read_correctly_with_matching_mock_counts()
    {
        var call = await TesterCall.SmallAsync("--json=-", "--ceiling");
        call.AssertExit(0);

        var json = call.Json();
        var metrics = json.GetProperty("metrics");
        Assert.Equal((1, 0, "engine"), (json.GetProperty("schema").GetInt32(), json.GetProperty("exit").GetInt32(), json.GetProperty("mode").GetString()));
        Assert.Equal((0, 0), (metrics.GetProperty("bytes_wrong").GetInt64(), metrics.GetProperty("bytes_unproved").GetInt64()));
        Assert.True(metrics.GetProperty("bytes_verified").GetInt64() > 2 << 20, "step 7 alone reads 2 MiB");
        Assert.Equal(2, metrics.GetProperty("import_heads").GetInt32());
        Assert.True(metrics.GetProperty("articles_per_seek").GetProperty("worst").GetInt32() >= 1);

        var mock = json.GetProperty("mock");
        // The mock may count a connection that the engine has canceled.
        var (opened, abandoned) = (metrics.GetProperty("connections_opened").GetInt64(), metrics.GetProperty("connections_abandoned").GetInt64());
        Assert.InRange(mock.GetProperty("connections").GetProperty("opened").GetInt64(), opened, opened + abandoned);
        Assert.InRange(mock.GetProperty("connections").GetProperty("peak").GetInt64(), 1, 4);
        Assert.InRange(mock.GetProperty("commands").GetProperty("BODY").GetInt64(), 40 + 40 + 2, metrics.GetProperty("bodies").GetInt64());
        Assert.Equal([1, 2, 3, 4, 5, 6, 7], json.GetProperty("steps").EnumerateArray().Select(step => step.GetProperty("n").GetInt32()));
        Assert.All(json.GetProperty("steps").EnumerateArray(), step => Assert.True(step.GetProperty("ok").GetBoolean()));
        Assert.All(MetricNames(), name => Assert.Equal(JsonValueKind.Number, Find(metrics, name).ValueKind));
    }

    [Fact]
    public async Task Summary_is_printed_last_and_fits_80_columns()
    {
        var call = await TesterCall.SmallAsync("--steps=6-7");
        call.AssertExit(0);
        Assert.All(call.Summary, line => Assert.True(line.Length <= 80, line));
        Assert.Equal(
            ["==", "file", "provider", "--", "IMPORT", "OPEN", "SEEK", "10", "50", "90", "20", "all", "64", "STREAM", "READS", "WAITING", "COST", "CHECKED", "RESULT", "=="],
            call.Summary.Select(line => line.Trim().Split(' ')[0] is var word && word.Trim('=', '-').Length == 0 ? word[..2] : word));
        Assert.EndsWith("exit 0", call.Summary[^2], StringComparison.Ordinal);
        Assert.DoesNotContain("[1]", call.Output, StringComparison.Ordinal);
        Assert.Contains("[6] Seeking", call.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Quiet_prints_the_summary_only()
    {
        var call = await TesterCall.SmallAsync("--steps=7", "--quiet");
        call.AssertExit(0);
        Assert.StartsWith("== Sluice FullNzbTester", call.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Several_runs_give_medians_and_values()
    {
        var call = await TesterCall.SmallAsync("--steps=7", "--runs=3", "--json=-");
        call.AssertExit(0);
        var speed = call.Json().GetProperty("metrics").GetProperty("seq_mb_s");
        var values = speed.GetProperty("values").EnumerateArray().Select(value => value.GetDouble()).Order().ToList();
        Assert.Equal((3, values[1], values[0], values[2]), (values.Count, speed.GetProperty("median").GetDouble(), speed.GetProperty("min").GetDouble(), speed.GetProperty("max").GetDouble()));
    }

    [Fact]
    public async Task Reader_rates_continue_when_the_film_restarts()
    {
        // The film is half a second long, so the counted seconds are those of the reader.
        var call = await TesterCall.SmallAsync("--steps=1", "--size=1", "--playback=16", "--playback-seconds=7", "--json=-");
        call.AssertExit(0);
        Assert.Equal(JsonValueKind.Number, call.Json().GetProperty("metrics").GetProperty("playback").GetProperty("p05_mb_s").ValueKind);
    }

    [Fact]
    public async Task Parallel_readers_play_and_their_bytes_are_compared()
    {
        var call = await TesterCall.SmallAsync("--steps=1", "--layout=pack", "--files=3", "--playback=0", "--readers=3", "--playback-seconds=1", "--json=-");
        call.AssertExit(0);
        var metrics = call.Json().GetProperty("metrics");
        Assert.Equal(0, metrics.GetProperty("playback").GetProperty("cut_off").GetInt32());
        Assert.True(metrics.GetProperty("bytes_verified").GetInt64() > 0);
        Assert.True(metrics.GetProperty("playback").GetProperty("mb_s").GetDouble() > 0);
    }

    [Fact]
    public async Task Once_flag_stops_readers_at_the_end_of_the_film()
    {
        var call = await TesterCall.SmallAsync("--steps=1", "--playback=0", "--once", "--playback-seconds=60", "--json=-");
        call.AssertExit(0);
        Assert.Equal((2 << 20) + 1024, call.Json().GetProperty("metrics").GetProperty("bytes_verified").GetInt64());
    }

    [Fact]
    public async Task Storm_counts_every_seek_and_leaves_nothing_in_progress()
    {
        var call = await TesterCall.SmallAsync("--steps=1", "--layout=pack", "--files=2", "--storm=50", "--storm-seconds=1", "--readers=2", "--json=-");
        call.AssertExit(0);
        var storm = call.Json().GetProperty("metrics").GetProperty("storm");
        Assert.Equal((50, 0), (storm.GetProperty("seeks").GetInt32(), storm.GetProperty("left").GetInt32()));
        Assert.True(storm.GetProperty("articles_worst").GetInt32() >= 1);
        Assert.True(storm.GetProperty("bytes_ratio").GetDouble() > 0);
    }

    [Fact]
    public async Task Storm_with_fewer_files_than_readers_exits_with_code_2()
    {
        var call = await TesterCall.SmallAsync("--steps=1", "--storm=50", "--readers=2");
        call.AssertExit(2);
    }

    [Fact]
    public async Task Soak_hits_faults_without_wrong_bytes()
    {
        var call = await TesterCall.SmallAsync("--steps=1", "--soak=0.05", "--readers=4", "--playback=0", "--providers=2", "--json=-");
        call.AssertExit(0);
        var metrics = call.Json().GetProperty("metrics");
        Assert.Equal((0, 0), (metrics.GetProperty("bytes_wrong").GetInt64(), metrics.GetProperty("soak").GetProperty("left").GetInt64()));
        Assert.True(metrics.GetProperty("soak").GetProperty("reads_whole").GetInt32() > 0);
        Assert.NotEmpty(call.Json().GetProperty("mock").GetProperty("faults").EnumerateObject());
    }

    [Fact]
    public async Task Media_file_is_served_and_compared()
    {
        var folder = Directory.CreateTempSubdirectory("tester-");
        try
        {
            var film = Path.Combine(folder.FullName, "clip.bin");
            await File.WriteAllBytesAsync(film, [.. Enumerable.Range(0, 700_001).Select(at => (byte)(at * 7 / 3))], TestContext.Current.CancellationToken);
            var call = await TesterCall.SmallAsync("--steps=6-7", $"--media={film}", "--json=-");
            call.AssertExit(0);
            Assert.Equal(700_001, call.Json().GetProperty("file").GetProperty("bytes").GetInt64());
            Assert.True(call.Json().GetProperty("metrics").GetProperty("bytes_verified").GetInt64() >= 700_001);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public async Task Worse_metrics_than_the_baseline_exit_with_code_3()
    {
        var folder = Directory.CreateTempSubdirectory("tester-");
        try
        {
            var path = Path.Combine(folder.FullName, "before.json");
            (await TesterCall.SmallAsync("--steps=7", $"--json={path}")).AssertExit(0);

            var before = await File.ReadAllTextAsync(path, TestContext.Current.CancellationToken);
            var speed = JsonDocument.Parse(before).RootElement.GetProperty("metrics").GetProperty("seq_mb_s").GetRawText();
            await File.WriteAllTextAsync(path, before.Replace(speed, "1e9", StringComparison.Ordinal), TestContext.Current.CancellationToken);
            var call = await TesterCall.SmallAsync("--steps=7", $"--compare={path}", "--tolerance=50");
            call.AssertExit(3);
            Assert.Contains(call.Output.Split('\n'), line => line.StartsWith(" seq_mb_s ", StringComparison.Ordinal) && line.EndsWith("worse", StringComparison.Ordinal));
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public async Task Interrupted_run_prints_finished_steps_and_exits_with_130()
    {
        using var interrupted = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        using var output = new SignallingWriter("[7] Sequential", interrupted.Cancel);
        using var error = new StringWriter();
        string[] slow = [.. TesterCall.SmallRelease, "--steps=1,7", "--bandwidth=1"];
        var exit = await Sluice.Tools.FullNzbTester.Cli.CommandLine.RunAsync(slow, output, error, isTerminal: false, interrupted.Token);
        Assert.Equal(130, exit);
        Assert.Contains("interrupted", output.ToString(), StringComparison.Ordinal);
        Assert.Contains("IMPORT", output.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Time_limit_ends_the_run_with_exit_code_1()
    {
        var call = await TesterCall.SmallAsync("--steps=7", "--bandwidth=1", "--timeout=1", "--json=-");
        call.AssertExit(1);
        Assert.Contains("time limit", call.Error, StringComparison.Ordinal);

        // Each step that the time limit ended says so.
        Assert.All(call.Json().GetProperty("steps").EnumerateArray(), step => Assert.False(step.GetProperty("ok").GetBoolean()));
        Assert.All(call.Json().GetProperty("steps").EnumerateArray(), step => Assert.NotEqual("", step.GetProperty("note").GetString()));
    }

    private static IEnumerable<string> MetricNames() =>
    [
        "import_ms", "click_to_byte_ms", "ttfb_cold_ms", "ttfb_warm_ms", "seek_first_byte_ms.p50", "seek_first_byte_ms.p95", "seek_first_byte_ms.worst",
        "seek_full_ms.median", "seek_full_ms.worst", "seek_64k_ms.median", "seq_mb_s", "seq_mib_s", "cpu_s_per_gib", "rss_idle_mib", "rss_item_mib", "rss_peak_mib",
        "reads.count", "reads.median_ms", "reads.p95_ms", "reads.sync_share", "wait_connection_ms", "permits_effective", "alloc_bytes_per_mb", "gc_pause_ms",
        "wire_bytes", "amplification", "commands", "connections_opened", "connections_peak", "ceiling_mb_s", "seq_ratio",
    ];

    private static JsonElement Find(JsonElement metrics, string name)
    {
        foreach (var part in name.Split('.'))
            metrics = metrics.TryGetProperty(part, out var inner) ? inner : throw new KeyNotFoundException($"no metric {name}");
        return metrics;
    }

    /// <summary>Calls back when a line is printed.</summary>
    private sealed class SignallingWriter(string line, Action seen) : StringWriter(CultureInfo.InvariantCulture)
    {
        public override void WriteLine(string? value)
        {
            base.WriteLine(value);
            if (value == line)
                seen();
        }
    }
}
