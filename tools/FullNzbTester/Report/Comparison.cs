using System.Globalization;
using System.Text.Json;
using Sluice.Tools.FullNzbTester.Cli;

namespace Sluice.Tools.FullNzbTester.Report;

/// <summary>Compares the figures with an earlier run (contract TST-42).</summary>
internal sealed class Comparison
{
    private const double TimeFloor = 5;
    private const double MemoryFloor = 16;

    private readonly Dictionary<string, double?> _before = new(StringComparer.Ordinal);
    private readonly List<string> _differences = [];

    private Comparison(JsonElement earlier, TesterOptions options, Machine machine)
    {
        Flatten(earlier.GetProperty("metrics"), "");
        var args = earlier.GetProperty("args").EnumerateArray().Select(argument => argument.GetString() ?? "");
        var then = earlier.GetProperty("machine");
        Differ("schema", earlier.GetProperty("schema").GetRawText(), JsonReport.Schema.ToString(CultureInfo.InvariantCulture));
        Differ("args", Compared(args), Compared(options.Args));
        Differ("machine", $"{then.GetProperty("cpu").GetString()}, {then.GetProperty("cores").GetInt32()} cores", $"{machine.Cpu}, {machine.Cores} cores");
    }

    /// <exception cref="UsageException">The file is not a report.</exception>
    public static Comparison Load(string path, TesterOptions options, Machine machine)
    {
        try
        {
            using var json = JsonDocument.Parse(File.ReadAllBytes(path));
            return new Comparison(json.RootElement, options, machine);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException or JsonException or KeyNotFoundException or InvalidOperationException)
        {
            throw new UsageException($"--compare: {path} is no result of this tool: {error.Message}");
        }
    }

    /// <summary>Prints metric, before, now, ratio and verdict.</summary>
    /// <returns>True if a figure is worse than tolerated.</returns>
    public bool Print(TextWriter output, RunSet now, double tolerancePercent)
    {
        foreach (var difference in _differences)
            output.WriteLine($" compared with other {difference}");
        output.WriteLine($" {"metric",-34}{"before",14}{"now",14}{"ratio",8}  verdict");
        var anyWorse = false;
        foreach (var name in now.Names)
        {
            if (_before.GetValueOrDefault(name) is not { } before || now[name] is not { } after)
                continue;
            var verdict = Judge(name, before, after, tolerancePercent);
            anyWorse |= verdict == "worse";
            var ratio = before == 0 ? "-" : (after / before).ToString("0.00", CultureInfo.InvariantCulture);
            output.WriteLine(string.Create(CultureInfo.InvariantCulture, $" {name,-34}{before,14:0.##}{after,14:0.##}{ratio,8}  {verdict}"));
        }

        return anyWorse;
    }

    /// <summary>Returns the verdict on a change. Figures without a better direction are never judged.</summary>
    internal static string Judge(string name, double before, double after, double tolerancePercent)
    {
        var direction = DirectionOf(name);
        if (direction == 0)
            return "";
        var worsening = direction > 0 ? before - after : after - before;
        var floor = name.Contains("_ms", StringComparison.Ordinal) ? TimeFloor : name.EndsWith("_mib", StringComparison.Ordinal) ? MemoryFloor : 0;
        var tolerated = Math.Max(Math.Abs(before) * tolerancePercent / 100, floor);
        return worsening > tolerated ? "worse" : worsening < -tolerated ? "better" : "same";
    }

    /// <summary>1 if higher is better, −1 if lower is better, 0 if neither.</summary>
    private static int DirectionOf(string name) => name switch
    {
        "reads.count" or "articles_per_seek.count" or "reads.min_ms" or "ceiling_mb_s" => 0,
        "rss_idle_mib" or "rss_item_mib" or "rss_peak_mib" or "cpu_s_per_gib" or "alloc_bytes_per_mb" or "amplification" => -1,
        "wait_connection_share" or "playback.share_spread" or "playback.stalls" or "playback.cut_off" or "playback.provider_bytes_ratio" => -1,
        "storm.articles_median" or "storm.articles_worst" or "storm.bytes_ratio" or "storm.left" or "storm.late" or "soak.reads_broken" or "soak.left" => -1,
        "seq_ratio" or "reads.sync_share" or "permits_effective" or "permits_peak" or "seq_p05_250ms" or "soak.least_share" => 1,
        _ when name.EndsWith("_mb_s", StringComparison.Ordinal) || name.EndsWith("_mib_s", StringComparison.Ordinal) => 1,
        _ when name.StartsWith("articles_per_seek", StringComparison.Ordinal) || name.Contains("_ms", StringComparison.Ordinal) => -1,
        _ => 0,
    };

    private void Flatten(JsonElement element, string prefix)
    {
        foreach (var property in element.EnumerateObject())
        {
            var name = prefix + property.Name;
            if (property.Value.ValueKind != JsonValueKind.Object)
                _before[name] = property.Value.ValueKind == JsonValueKind.Number ? property.Value.GetDouble() : null;
            else if (property.Value.TryGetProperty("values", out _))
                _before[name] = property.Value.GetProperty("median") is { ValueKind: JsonValueKind.Number } median ? median.GetDouble() : null;
            else
                Flatten(property.Value, name + ".");
        }
    }

    private void Differ(string what, string before, string now)
    {
        if (before != now)
            _differences.Add($"{what}: {before} / {now}");
    }

    /// <summary>Removes the flags that choose the report and the comparison, because they do not change the measured setup.</summary>
    internal static string Compared(IEnumerable<string> args)
    {
        var compared = new List<string>();
        var isItsValue = false;
        foreach (var argument in args)
        {
            var isAbout = argument.Split('=')[0] is "--json" or "--compare" or "--tolerance";
            if (!isAbout && !isItsValue)
                compared.Add(argument);
            isItsValue = isAbout && !argument.Contains('=', StringComparison.Ordinal);
        }

        return string.Join(' ', compared);
    }
}
