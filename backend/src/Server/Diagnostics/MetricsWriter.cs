using System.Buffers;
using System.Globalization;
using System.Text;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Diagnostics;

/// <summary>Writes the metrics of one part of the server. Must be thread-safe.</summary>
internal delegate ValueTask MetricSource(MetricsWriter to, CancellationToken cancellationToken);

/// <summary>Writes metrics in the Prometheus text format, version 0.0.4 (OPS-30).</summary>
/// <remarks>Used by one caller. Begin each metric once, then write all its samples. Names and help texts are constants in the program, so only label values are
/// escaped. Labels never contain file names, client addresses or message-ids (S27).</remarks>
internal sealed class MetricsWriter
{
    public const string ContentType = "text/plain; version=0.0.4; charset=utf-8";

    // A server with ten providers writes about 60 KB, so the buffer rarely needs to grow.
    private const int UsualBytes = 64 << 10;

    // The shortest form of a double has at most 24 characters.
    private const int LongestNumber = 32;

    private readonly ArrayBufferWriter<byte> _text = new(UsualBytes);
    private string _name = "";

    public ReadOnlyMemory<byte> Text => _text.WrittenMemory;

    /// <summary>Begins a metric that only grows until the server restarts.</summary>
    public void Counter(string name, string help) => Begin(name, "counter", help);

    /// <summary>Begins a metric that may rise and fall.</summary>
    public void Gauge(string name, string help) => Begin(name, "gauge", help);

    /// <summary>Begins a distribution of times in seconds.</summary>
    public void Histogram(string name, string help) => Begin(name, "histogram", help);

    /// <summary>Writes a sample of the current counter or gauge.</summary>
    public void Sample(double value, params ReadOnlySpan<(string Name, string Value)> labels) => Line("", labels, null, value);

    /// <summary>Writes the samples of the current histogram.</summary>
    public void Sample(HistogramSnapshot histogram, params ReadOnlySpan<(string Name, string Value)> labels)
    {
        var count = 0L;
        for (var range = 0; range < histogram.Counts.Count; range++)
        {
            count += histogram.Counts[range];
            Line("_bucket", labels, range < histogram.Bounds.Count ? histogram.Bounds[range] : double.PositiveInfinity, count);
        }

        Line("_sum", labels, null, histogram.Seconds);
        Line("_count", labels, null, count);
    }

    private void Begin(string name, string type, string help)
    {
        _name = name;
        Write("# HELP ");
        Write(name);
        Write(" ");
        Write(help);
        Write("\n# TYPE ");
        Write(name);
        Write(" ");
        Write(type);
        Write("\n");
    }

    private void Line(string suffix, ReadOnlySpan<(string Name, string Value)> labels, double? bound, double value)
    {
        Write(_name);
        Write(suffix);
        var separator = "{";
        foreach (var (name, text) in labels)
        {
            Write(separator);
            Write(name);
            Write("=\"");
            Write(Escape(text));
            Write("\"");
            separator = ",";
        }

        if (bound is { } most)
        {
            Write(separator);
            Write("le=\"");
            Write(most);
            Write("\"");
            separator = ",";
        }

        Write(separator == "{" ? " " : "} ");
        Write(value);
        Write("\n");
    }

    private void Write(string text) => Encoding.UTF8.GetBytes(text, _text);

    private void Write(double value)
    {
        if (double.IsPositiveInfinity(value))
        {
            Write("+Inf");
            return;
        }

        value.TryFormat(_text.GetSpan(LongestNumber), out var written, default, CultureInfo.InvariantCulture);
        _text.Advance(written);
    }

    private static string Escape(string text) =>
        text.Replace("\\", "\\\\", StringComparison.Ordinal).Replace("\"", "\\\"", StringComparison.Ordinal).Replace("\n", "\\n", StringComparison.Ordinal);
}
