using System.Globalization;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Steps;

namespace Sluice.Tools.FullNzbTester.Report;

/// <summary>The summary at the end, at most 80 columns wide (contract TST-40).</summary>
internal sealed class Summary(RunSet set, TesterOptions options, bool color)
{
    private const int Width = 78;
    private const string None = "-";

    private readonly List<string> _lines = [];

    /// <param name="verdict">Result in a few words.</param>
    public void Write(TextWriter output, string verdict, int exit)
    {
        _lines.Add("== Sluice FullNzbTester ".PadRight(Width, '='));
        Head();
        _lines.Add(new string('-', Width));
        Figures();
        Line(" CHECKED", Checked());
        foreach (var name in set.Runs.Count > 1 ? Spreads() : [])
            _lines.Add(name);
        _lines.Add(Result(verdict, exit));
        _lines.Add(new string('=', Width));
        foreach (var line in _lines)
            output.WriteLine(line);
    }

    private void Head()
    {
        var run = set.Last;
        if (run.Files.Count > 0)
        {
            var file = run.Picked;
            Line(" file", string.Create(CultureInfo.InvariantCulture, $"{Cut(file.Name, 24)}  ({file.Length / (double)(1 << 20):0.0} MiB, {(file.KnowsArticles ? file.Articles.Count.ToString(CultureInfo.InvariantCulture) : "?")} articles, {options.Mock?.Layout ?? "plain"})   runs {set.Runs.Count}  seed {options.Seed}"));
        }

        if (options.Server is { } server)
            Line(" server", string.Create(CultureInfo.InvariantCulture, $"{Cut(server.Url.GetLeftPart(UriPartial.Authority), 40)}, user {Masked.User(server.User)}{(server.Pid is { } pid ? $", process {pid}" : "")}"));
        if (run.Providers.Count > 0)
            Line(" provider", Provider());
    }

    private string Provider()
    {
        var first = set.Last.Providers[0];
        var depth = first.PipeliningDepth?.ToString(CultureInfo.InvariantCulture) ?? "auto";
        var more = set.Last.Providers.Count > 1 ? string.Create(CultureInfo.InvariantCulture, $" (+{set.Last.Providers.Count - 1})") : "";
        if (options.Mock is { } mock)
            return string.Create(CultureInfo.InvariantCulture, $"mock {first.Host}{more}, {first.MaxConnections} connections, {mock.Line.Latency} +/- {mock.Line.Jitter} ms, depth {depth}{(mock.Tls ? ", TLS" : "")}");
        var user = Masked.User(first.User) is { Length: > 0 } masked ? $", user {masked}" : "";
        return string.Create(CultureInfo.InvariantCulture, $"{Cut(first.Host, 24)}:{first.Port}{more}{user}, {first.MaxConnections} connections, depth {depth}{(first.UseTls ? ", TLS" : "")}");
    }

    private void Figures()
    {
        Line(" IMPORT", $"{Time("import_ms"),-14} {Import(),-28} click to byte {Time("click_to_byte_ms"),10}");
        if (set["ttfb_cold_ms"] is not null)
        {
            Line(" OPEN", $"cold {Time("ttfb_cold_ms"),-14} warm {Time("ttfb_warm_ms")}");
            Seeks();
        }

        if (set["seq_mb_s"] is not null)
        {
            Line(" STREAM", $"{Number("seq_mb_s", "0.00")} MB/s ({Number("seq_mib_s", "0.00")} MiB/s)  p05(250 ms) {Number("seq_p05_250ms", "0.00")}  ceiling {Number("seq_ratio", "0.00")}");
            Line(" READS", $"n {Number("reads.count", "0")}  median {Number("reads.median_ms", "0.00")} ms  p95 {Number("reads.p95_ms", "0.00")} ms  max {Number("reads.max_ms", "0.0")} ms  sync {Percent("reads.sync_share")}");
            Line(" WAITING", $"connections {Percent("wait_connection_share")} of fetch time   permits {Number("permits_effective", "0")}, used {Number("permits_peak", "0")}");
        }

        if (set["playback.mb_s"] is not null)
            Line(" PLAYBACK", $"{Number("playback.mb_s", "0.0")} MB/s  start {Time("playback.start_delay_ms")}  stalls {Number("playback.stalls", "0")}  worst {Number("playback.worst_stall_ms", "0")} ms");
        if (set["storm.seeks"] is not null)
            Line(" STORM", $"{Number("storm.seeks", "0")} seeks  first byte p95 {Time("storm.first_byte_ms_p95")}  articles worst {Number("storm.articles_worst", "0")}  bytes {Number("storm.bytes_ratio", "0.00")} x");
        if (set["soak.bytes"] is not null)
            Line(" SOAK", $"{Number("soak.reads_whole", "0")} whole  {Number("soak.reads_given_up", "0")} given up  {Number("soak.reads_broken", "0")} broken  RSS {Number("soak.rss_mib_per_10_min", "+0.0;-0.0;0")} MiB/10 min");
        Line(" COST", $"{Number("cpu_s_per_gib", "0.00")} CPU-s/GiB   RSS {Number("rss_idle_mib", "0")} idle {Number("rss_item_mib", "+0;-0;+0")} item {Number("rss_peak_mib", "0")} peak MiB");
    }

    private string Import() => set["import_cold_ms"] is null
        ? $"heads {Number("import_heads", "0")}   round trips {Number("import_round_trips", "0")}"
        : $"from no connection {Time("import_cold_ms")}";

    private void Seeks()
    {
        Line(" SEEK", "first byte            full 8 MiB");
        double total = 0;
        foreach (var percent in new[] { 10, 50, 90, 20 })
        {
            var seeks = set.Runs.SelectMany(run => run.Seeks).Where(seek => seek is { Direction: SeekStep.Ancestor, Warm: true, Stream: "fresh" } && seek.Percent == percent).ToList();
            var (first, full) = (Median([.. seeks.Select(seek => seek.FirstByte)]), Median([.. seeks.Select(seek => seek.Full)]));
            total += Math.Max(0, first ?? 0);
            _lines.Add($"   {percent,2} %{Shown(first),16}{Shown(full),22}");
        }

        _lines.Add(string.Create(CultureInfo.InvariantCulture, $"   {"all",-8} p50 {Time("seek_first_byte_ms.p50")}  p95 {Time("seek_first_byte_ms.p95")}  worst {Time("seek_first_byte_ms.worst"),-12} total {total / 1000:0.00} s"));
        _lines.Add($"   {"64 KiB",-8} {Time("seek_64k_ms.median")}  worst {Time("seek_64k_ms.worst")}   articles {Number("articles_per_seek.median", "0.#")}  worst {Number("articles_per_seek.worst", "0")}");
    }

    private string Checked()
    {
        if (!set.Last.Release.IsCompared)
            return "not compared: the bytes of a real post are unknown";
        var unproved = set["bytes_unproved"] is > 0 ? string.Create(CultureInfo.InvariantCulture, $", {set["bytes_unproved"]:n0} unproved") : "";
        return string.Create(CultureInfo.InvariantCulture, $"{set["bytes_verified"]:n0} bytes, {set["bytes_wrong"]:n0} wrong{unproved}");
    }

    private IEnumerable<string> Spreads()
    {
        foreach (var name in new[] { "import_ms", "seek_first_byte_ms.p50", "seq_mb_s", "seq_ratio", "cpu_s_per_gib" })
        {
            if (set.SpreadOf(name) is { } spread)
                yield return string.Create(CultureInfo.InvariantCulture, $" SPREAD     {name,-24} median {set[name]:0.00}, spread {spread:0.00}");
        }
    }

    private string Result(string verdict, int exit)
    {
        var start = $" RESULT     {Cut(verdict, 54)}";
        var line = start.PadRight(68) + string.Create(CultureInfo.InvariantCulture, $"exit {exit}");
        var paint = exit == ExitCode.Good ? "\e[32m" : "\e[31m";
        return color ? $"{paint}{line}\e[0m" : line;
    }

    private void Line(string label, string text) => _lines.Add($"{label,-11} {text}".TrimEnd());

    private string Time(string name) => Shown(set[name]);

    private string Number(string name, string format) => set[name]?.ToString(format, CultureInfo.InvariantCulture) ?? None;

    private string Percent(string name) => set[name] is { } share ? string.Create(CultureInfo.InvariantCulture, $"{share * 100:0.0} %") : None;

    private static string Shown(double? milliseconds) => milliseconds switch
    {
        null => None,
        < 0 => "timeout",
        >= 5000 => string.Create(CultureInfo.InvariantCulture, $"{milliseconds:0} ms (!!)"),
        >= 1000 => string.Create(CultureInfo.InvariantCulture, $"{milliseconds:0} ms (!)"),
        _ => string.Create(CultureInfo.InvariantCulture, $"{milliseconds:0} ms"),
    };

    private static double? Median(IReadOnlyList<double?> values) => values.FirstOrDefault(value => value < 0) ?? new Measure.Samples(values.OfType<double>()).Median;

    private static string Cut(string text, int most) => text.Length <= most ? text : text[..(most - 3)] + "...";
}
