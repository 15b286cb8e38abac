namespace Sluice.Tools.FullNzbTester.Measure;

/// <summary>A figure over time, and the straight line through it (least squares).</summary>
internal sealed class Trend
{
    private readonly List<(double Minute, double Value)> _points = [];

    /// <summary>Minutes between the first and the last value.</summary>
    public double Minutes => _points.Count == 0 ? 0 : _points[^1].Minute - _points[0].Minute;

    /// <summary>Change per minute; null for fewer than two values.</summary>
    public double? Slope
    {
        get
        {
            if (_points.Count < 2)
                return null;
            var (time, value) = (_points.Average(point => point.Minute), _points.Average(point => point.Value));
            var spread = _points.Sum(point => (point.Minute - time) * (point.Minute - time));
            return spread > 0 ? _points.Sum(point => (point.Minute - time) * (point.Value - value)) / spread : null;
        }
    }

    /// <summary>Notes a value.</summary>
    public void Add(double minute, double value) => _points.Add((minute, value));
}
