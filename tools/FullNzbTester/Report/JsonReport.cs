using System.Globalization;
using System.Text.Json;
using Sluice.Tools.FullNzbTester.Cli;

namespace Sluice.Tools.FullNzbTester.Report;

/// <summary>The result as one JSON object (contract TST-41).</summary>
internal sealed class JsonReport(RunSet set, TesterOptions options, Machine machine, DateTimeOffset started)
{
    /// <summary>Version of the form.</summary>
    public const int Schema = 1;

    /// <summary>Writes it.</summary>
    public void Write(Stream output, int exit)
    {
        using var json = new Utf8JsonWriter(output, new JsonWriterOptions { Indented = true });
        json.WriteStartObject();
        json.WriteNumber("schema", Schema);
        json.WriteString("tool", "FullNzbTester");
        json.WriteString("version", machine.Version);
        json.WriteString("commit", machine.Commit);
        json.WriteString("started", started.ToString("O", CultureInfo.InvariantCulture));
        WriteMachine(json);
        json.WriteStartArray("args");
        foreach (var argument in options.Args)
            json.WriteStringValue(argument);
        json.WriteEndArray();
        json.WriteString("mode", options.Mode);
        WriteFile(json);
        WriteSteps(json);
        WriteMetrics(json);
        WriteSeeks(json);
        json.WriteStartArray("windows_mb_s");
        foreach (var rate in set.Last.Windows)
            json.WriteNumberValue(rate);
        json.WriteEndArray();
        json.WritePropertyName("mock");
        json.WriteRawValue(set.Last.MockCounts?.Json ?? "null");
        json.WriteStartArray("failures");
        foreach (var failure in set.Failures)
            json.WriteStringValue(failure);
        json.WriteEndArray();
        json.WriteNumber("exit", exit);
        json.WriteEndObject();
    }

    private void WriteMachine(Utf8JsonWriter json)
    {
        json.WriteStartObject("machine");
        json.WriteString("cpu", machine.Cpu);
        json.WriteNumber("cores", machine.Cores);
        json.WriteString("os", machine.OperatingSystem);
        json.WriteString("runtime", machine.Runtime);
        json.WriteEndObject();
    }

    private void WriteFile(Utf8JsonWriter json)
    {
        json.WritePropertyName("file");
        if (set.Last.Files.Count == 0)
        {
            json.WriteNullValue();
            return;
        }

        var file = set.Last.Picked;
        json.WriteStartObject();
        json.WriteString("name", file.Name);
        json.WriteNumber("bytes", file.Length);
        json.WritePropertyName("articles");
        WriteNumber(json, file.Ids.Count > 0 ? file.Ids.Count : null);
        json.WriteString("layout", options.Mock?.Layout ?? "plain");
        json.WriteNumber("volumes", 0);
        json.WriteEndObject();
    }

    private void WriteSteps(Utf8JsonWriter json)
    {
        json.WriteStartArray("steps");
        foreach (var step in set.Last.Steps)
        {
            json.WriteStartObject();
            json.WriteNumber("n", step.Number);
            json.WriteString("name", step.Name);
            json.WriteBoolean("ok", step.Ok);
            json.WriteBoolean("skipped", step.Skipped);
            json.WriteNumber("ms", step.Milliseconds);
            json.WriteNumber("commands", step.Commands);
            json.WriteNumber("bytes", step.Bytes);
            json.WriteString("note", step.Note);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    /// <summary>A dot in a name opens an object; names of one object stand together.</summary>
    private void WriteMetrics(Utf8JsonWriter json)
    {
        json.WriteStartObject("metrics");
        foreach (var group in set.Names.GroupBy(name => name.Split('.')[0]))
        {
            if (group.Key == group.First())
            {
                WriteMetric(json, group.Key, group.Key);
                continue;
            }

            json.WriteStartObject(group.Key);
            foreach (var name in group)
                WriteMetric(json, name[(group.Key.Length + 1)..], name);
            json.WriteEndObject();
        }

        json.WriteEndObject();
    }

    private void WriteMetric(Utf8JsonWriter json, string label, string name)
    {
        json.WritePropertyName(label);
        if (set.Runs.Count == 1)
        {
            WriteNumber(json, set[name]);
            return;
        }

        var values = set.ValuesOf(name);
        json.WriteStartObject();
        json.WritePropertyName("median");
        WriteNumber(json, set[name]);
        json.WritePropertyName("min");
        WriteNumber(json, values.Min());
        json.WritePropertyName("max");
        WriteNumber(json, values.Max());
        json.WriteStartArray("values");
        foreach (var value in values)
            WriteNumber(json, value);
        json.WriteEndArray();
        json.WriteEndObject();
    }

    private void WriteSeeks(Utf8JsonWriter json)
    {
        json.WriteStartArray("seeks");
        foreach (var seek in set.Last.Seeks)
        {
            json.WriteStartObject();
            json.WriteNumber("pct", seek.Percent);
            json.WriteString("direction", seek.Direction);
            json.WriteString("stream", seek.Stream);
            json.WritePropertyName("first_byte_ms");
            WriteNumber(json, seek.FirstByte);
            json.WritePropertyName("full_ms");
            WriteNumber(json, seek.Full);
            json.WriteBoolean("warm", seek.Warm);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteNumber(Utf8JsonWriter json, double? value)
    {
        if (value is { } number)
            json.WriteNumberValue(number);
        else
            json.WriteNullValue();
    }
}
