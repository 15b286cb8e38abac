using System.Globalization;
using System.Text.RegularExpressions;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>A metric with its samples.</summary>
internal sealed record ScrapedMetric(string Name, string Type, string Help, List<ScrapedSample> Samples);

/// <summary>A sample; a histogram has one for each bucket, its sum and its count.</summary>
internal sealed record ScrapedSample(string Name, IReadOnlyDictionary<string, string> Labels, double Value)
{
    public string Key { get; } = Name + string.Join(',', Labels.OrderBy(static label => label.Key, StringComparer.Ordinal).Select(static label => $"|{label.Key}={label.Value}"));
}

/// <summary>Parses the text format 0.0.4 of Prometheus strictly: a deviation fails the test.</summary>
internal sealed partial class ScrapedMetrics
{
    private ScrapedMetrics(IReadOnlyList<ScrapedMetric> metrics) => All = metrics;

    public IReadOnlyList<ScrapedMetric> All { get; }

    public IEnumerable<ScrapedSample> Samples => All.SelectMany(static metric => metric.Samples);

    public static ScrapedMetrics Parse(string text)
    {
        Assert.EndsWith("\n", text, StringComparison.Ordinal);
        var metrics = new List<ScrapedMetric>();
        string? help = null;
        foreach (var line in text.TrimEnd('\n').Split('\n'))
        {
            if (Help().Match(line) is { Success: true } described)
            {
                help = described.Groups["name"].Value;
                metrics.Add(new ScrapedMetric(help, "", described.Groups["help"].Value, []));
            }
            else if (Type().Match(line) is { Success: true } typed)
            {
                Assert.Equal(help, typed.Groups["name"].Value);
                metrics[^1] = metrics[^1] with { Type = typed.Groups["type"].Value };
            }
            else
            {
                metrics[^1].Samples.Add(ParseSample(line, metrics[^1]));
            }
        }

        Assert.Equal(metrics.Count, metrics.Select(static metric => metric.Name).Distinct().Count());
        var keys = metrics.SelectMany(static metric => metric.Samples).Select(static sample => sample.Key).ToList();
        Assert.Equal(keys.Count, keys.Distinct().Count());
        foreach (var metric in metrics.Where(static metric => metric.Type == "histogram"))
            AssertHistogram(metric);
        return new ScrapedMetrics(metrics);
    }

    /// <summary>Sums the samples of a metric whose labels include all of the given ones.</summary>
    public double Sum(string name, params (string Label, string Value)[] labels) => Samples
        .Where(sample => sample.Name == name && labels.All(label => sample.Labels.GetValueOrDefault(label.Label) == label.Value))
        .Sum(static sample => sample.Value);

    private static ScrapedSample ParseSample(string line, ScrapedMetric metric)
    {
        var match = SampleLine().Match(line);
        Assert.True(match.Success, $"not a sample: {line}");
        var name = match.Groups["name"].Value;
        string[] allowed = metric.Type == "histogram" ? [metric.Name + "_bucket", metric.Name + "_sum", metric.Name + "_count"] : [metric.Name];
        Assert.Contains(name, allowed);
        var labels = match.Groups["label"].Captures.Zip(match.Groups["value"].Captures).ToDictionary(
            static pair => pair.First.Value,
            static pair => pair.Second.Value.Replace("\\n", "\n", StringComparison.Ordinal).Replace("\\\"", "\"", StringComparison.Ordinal).Replace("\\\\", "\\", StringComparison.Ordinal));
        return new ScrapedSample(name, labels, double.Parse(match.Groups["number"].Value, CultureInfo.InvariantCulture));
    }

    private static void AssertHistogram(ScrapedMetric metric)
    {
        foreach (var series in metric.Samples.GroupBy(static sample => string.Join('|', sample.Labels.Where(static label => label.Key != "le"))))
        {
            var buckets = series.Where(sample => sample.Name == metric.Name + "_bucket").ToList();
            Assert.Equal(buckets.Select(static bucket => bucket.Value).Order(), buckets.Select(static bucket => bucket.Value));
            var bounds = buckets.Select(static bucket => bucket.Labels["le"] == "+Inf" ? double.PositiveInfinity : double.Parse(bucket.Labels["le"], CultureInfo.InvariantCulture)).ToList();
            Assert.Equal(bounds.Order(), bounds);
            Assert.Equal(double.PositiveInfinity, bounds[^1]);
            Assert.Equal(series.Single(sample => sample.Name == metric.Name + "_count").Value, buckets[^1].Value);
            Assert.Single(series, sample => sample.Name == metric.Name + "_sum");
        }
    }

    [GeneratedRegex(@"^# HELP (?<name>[a-z_]+) (?<help>\S.*\.)$")]
    private static partial Regex Help();

    [GeneratedRegex("^# TYPE (?<name>[a-z_]+) (?<type>counter|gauge|histogram)$")]
    private static partial Regex Type();

    [GeneratedRegex("""^(?<name>[a-z_]+)(\{((?<label>[a-z]+)="(?<value>([^"\\]|\\["\\n])*)"(,|(?=\})))+\})? (?<number>-?[0-9.E+-]+)$""")]
    private static partial Regex SampleLine();
}
