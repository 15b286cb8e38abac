namespace Sluice.Usenet.Streams;

/// <summary>
/// The shortest time of late from asking for a segment to having it: what the line takes where nothing queues. Of late, because
/// lines change.
/// </summary>
/// <remarks>Pure state of one reader, guarded by that reader.</remarks>
internal sealed class LeastRoundTrip(TimeProvider time)
{
    private static readonly TimeSpan Believed = TimeSpan.FromSeconds(10);

    private long _since = time.GetTimestamp();
    private double _before = double.PositiveInfinity;
    private double _now = double.PositiveInfinity;

    /// <summary>Seconds; infinite while nothing is known.</summary>
    public double Seconds => Math.Min(_before, _now);

    /// <summary>Notes how long a segment took.</summary>
    public void Observe(double seconds)
    {
        var at = time.GetTimestamp();
        if (time.GetElapsedTime(_since, at) >= Believed)
            (_since, _before, _now) = (at, _now, double.PositiveInfinity);
        _now = Math.Min(_now, seconds);
    }
}
