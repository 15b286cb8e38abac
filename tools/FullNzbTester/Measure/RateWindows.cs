namespace Sluice.Tools.FullNzbTester.Measure;

/// <summary>Rates of consecutive windows of equal length. The first and last window are skipped, because they include start and end.</summary>
internal sealed class RateWindows(double seconds)
{
    private const int FewestTelling = 5;

    private readonly List<long> _bytes = [];

    /// <param name="at">Seconds since the start.</param>
    public void Add(double at, long bytes)
    {
        var window = (int)(at / seconds);
        while (_bytes.Count <= window)
            _bytes.Add(0);
        _bytes[window] += bytes;
    }

    /// <summary>Rates of the counted windows in MB/s.</summary>
    public IReadOnlyList<double> Rates => [.. _bytes.Skip(1).SkipLast(1).Select(bytes => bytes / 1e6 / seconds)];

    /// <summary>5th percentile of the rates; null for fewer than five windows.</summary>
    public double? P05() => new Samples(Rates) is { Count: >= FewestTelling } samples ? samples.Percentile(5) : null;
}
