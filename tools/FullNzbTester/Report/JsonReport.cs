using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;
using Sluice.Tools.FullNzbTester.Cli;

namespace Sluice.Tools.FullNzbTester.Report;

/// <summary>Writes the result as one JSON object (contract TST-41).</summary>
internal sealed class JsonReport(RunSet set, TesterOptions options, Machine machine, DateTimeOffset started)
{
    public const int Schema = 1;

    public void Write(Stream output, int exit)
    {
        var report = new JsonObject
        {
            ["schema"] = Schema,
            ["tool"] = "FullNzbTester",
            ["version"] = machine.Version,
            ["commit"] = machine.Commit,
            ["started"] = started.ToString("O", CultureInfo.InvariantCulture),
            ["machine"] = new JsonObject { ["cpu"] = machine.Cpu, ["cores"] = machine.Cores, ["os"] = machine.OperatingSystem, ["runtime"] = machine.Runtime },
            ["args"] = List(options.Args, argument => argument),
            ["mode"] = options.Mode,
            ["file"] = File(),
            ["steps"] = List(set.Last.Steps, step => new JsonObject
            {
                ["n"] = step.Number,
                ["name"] = step.Name,
                ["ok"] = step.Ok,
                ["skipped"] = step.Skipped,
                ["ms"] = step.Milliseconds,
                ["commands"] = step.Commands,
                ["bytes"] = step.Bytes,
                ["note"] = step.Note,
            }),
            ["metrics"] = Metrics(),
            ["seeks"] = List(set.Last.Seeks, seek => new JsonObject
            {
                ["pct"] = seek.Percent,
                ["direction"] = seek.Direction,
                ["stream"] = seek.Stream,
                ["first_byte_ms"] = seek.FirstByte,
                ["full_ms"] = seek.Full,
                ["warm"] = seek.Warm,
            }),
            ["windows_mb_s"] = List(set.Last.Windows, rate => rate),
            ["mock"] = JsonNode.Parse(set.Last.MockCounts?.Json ?? "null"),
            ["failures"] = List(set.Failures, failure => failure),
            ["exit"] = exit,
        };
        using var json = new Utf8JsonWriter(output, new JsonWriterOptions { Indented = true });
        report.WriteTo(json);
    }

    private static JsonArray List<T>(IEnumerable<T> items, Func<T, JsonNode?> write) => [.. items.Select(write)];

    private JsonObject? File() => set.Last.Files.Count == 0 ? null : new JsonObject
    {
        ["name"] = set.Last.Picked.Name,
        ["bytes"] = set.Last.Picked.Length,
        ["articles"] = set.Last.Picked.KnowsArticles ? set.Last.Picked.Articles.Count : null,
        ["layout"] = options.Mock?.Layout ?? "plain",
        ["volumes"] = set.Last.Picked.Extents.Count is > 1 and var volumes ? volumes : 0,
    };

    /// <summary>Builds the figures. A dot in a name creates a nested object.</summary>
    private JsonObject Metrics()
    {
        var metrics = new JsonObject();
        foreach (var name in set.Names)
        {
            if (name.Split('.', 2) is [var group, var label])
                (metrics[group] ??= new JsonObject())[label] = Metric(name);
            else
                metrics[name] = Metric(name);
        }

        return metrics;
    }

    private JsonNode? Metric(string name)
    {
        if (set.Runs.Count == 1)
            return set[name];
        var values = set.ValuesOf(name);
        return new JsonObject { ["median"] = set[name], ["min"] = values.Min(), ["max"] = values.Max(), ["values"] = List(values, value => value) };
    }
}
