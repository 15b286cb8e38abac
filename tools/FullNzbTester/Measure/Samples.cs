namespace Sluice.Tools.FullNzbTester.Measure;

internal sealed class Samples(IEnumerable<double>? values = null)
{
    private readonly List<double> _values = [.. values ?? []];

    public int Count => _values.Count;

    public double? Mean => Count == 0 ? null : _values.Average();

    public double? Min => Count == 0 ? null : _values.Min();

    public double? Max => Count == 0 ? null : _values.Max();

    public double? Median => Percentile(50);

    public void Add(double value) => _values.Add(value);

    /// <summary>Returns a percentile, linearly interpolated between two samples; null without samples.</summary>
    public double? Percentile(double percent)
    {
        if (Count == 0)
            return null;
        var sorted = _values.Order().ToArray();
        var place = percent / 100 * (sorted.Length - 1);
        var below = (int)place;
        return below + 1 == sorted.Length ? sorted[below] : sorted[below] + ((place - below) * (sorted[below + 1] - sorted[below]));
    }
}
