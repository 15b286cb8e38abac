namespace Sluice.Tools.FullNzbTester.Measure;

/// <summary>Figures of one run by name, in the order in which they were measured; null is "not measured".</summary>
/// <remarks>A dot in a name makes an object of the JSON: <c>reads.p95_ms</c>.</remarks>
internal sealed class MetricSheet
{
    private readonly OrderedDictionary<string, double?> _values = [];

    /// <summary>The names.</summary>
    public IEnumerable<string> Names => _values.Keys;

    /// <summary>A figure; null when it was not measured.</summary>
    public double? this[string name]
    {
        get => _values.TryGetValue(name, out var value) ? value : null;
        set => _values[name] = value is { } number && double.IsFinite(number) ? number : null;
    }
}
