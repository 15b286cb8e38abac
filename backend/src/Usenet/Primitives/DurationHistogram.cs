namespace Sluice.Usenet.Primitives;

/// <summary>The counts of a <see cref="DurationHistogram"/> at one moment.</summary>
/// <param name="Bounds">Upper bounds of the ranges in seconds, ascending and inclusive.</param>
/// <param name="Counts">Number of durations in each range. The last element counts those above all bounds.</param>
/// <param name="Seconds">Sum of all durations.</param>
public sealed record HistogramSnapshot(IReadOnlyList<double> Bounds, IReadOnlyList<long> Counts, double Seconds);

/// <summary>Counts durations in fixed ranges.</summary>
/// <remarks>Thread-safe: uses atomic additions and allocates nothing. A snapshot's counts and sum may differ by durations recorded while it is made.</remarks>
public sealed class DurationHistogram
{
    private readonly double[] _bounds;
    private readonly long[] _counts;
    private long _ticks;

    /// <summary>Creates an empty histogram.</summary>
    /// <param name="bounds">Upper bounds in seconds, ascending and inclusive.</param>
    public DurationHistogram(params ReadOnlySpan<double> bounds) => (_bounds, _counts) = (bounds.ToArray(), new long[bounds.Length + 1]);

    public void Record(TimeSpan duration)
    {
        var seconds = duration.TotalSeconds;
        var range = 0;
        while (range < _bounds.Length && seconds > _bounds[range])
            range++;
        Interlocked.Increment(ref _counts[range]);
        Interlocked.Add(ref _ticks, duration.Ticks);
    }

    public HistogramSnapshot Snapshot()
    {
        var counts = new long[_counts.Length];
        for (var range = 0; range < counts.Length; range++)
            counts[range] = Volatile.Read(ref _counts[range]);
        return new HistogramSnapshot(_bounds, counts, TimeSpan.FromTicks(Volatile.Read(ref _ticks)).TotalSeconds);
    }
}
