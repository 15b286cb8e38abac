namespace Sluice.Tools.FullNzbTester.Measure;

/// <summary>Named figures of one run in the order of measurement; null means "not measured".</summary>
/// <remarks>A dot in a name creates a nested JSON object: <c>reads.p95_ms</c>.</remarks>
internal sealed class MetricSheet
{
    private readonly OrderedDictionary<string, double?> _values = [];

    public IEnumerable<string> Names => _values.Keys;

    /// <summary>Gets or sets a figure; null if it was not measured.</summary>
    public double? this[string name]
    {
        get => _values.TryGetValue(name, out var value) ? value : null;
        set => _values[name] = value is { } number && double.IsFinite(number) ? number : null;
    }
}
