namespace Sluice.Usenet.Streams;

/// <summary>
/// What readers of late have found the line to hold: rate × round trip. A reader that has shown that it reads on need not find it
/// out again, step by step, after each open and seek.
/// </summary>
/// <remarks>Thread-safe. Forgets after a minute or two, because lines change and are shared.</remarks>
internal sealed class LineMemory(TimeProvider time)
{
    private static readonly TimeSpan Believed = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();
    private long _since = time.GetTimestamp();
    private double _before;
    private double _now;

    /// <summary>Bytes; 0 while nothing is known.</summary>
    public double Bytes
    {
        get
        {
            lock (_gate)
            {
                Age();
                return Math.Max(_before, _now);
            }
        }
    }

    /// <summary>A reader has found the line to hold this many bytes.</summary>
    public void Learn(double bytes)
    {
        lock (_gate)
        {
            Age();
            _now = Math.Max(_now, bytes);
        }
    }

    private void Age()
    {
        var at = time.GetTimestamp();
        var elapsed = time.GetElapsedTime(_since, at);
        if (elapsed >= Believed)
            (_since, _before, _now) = (at, elapsed < 2 * Believed ? _now : 0, 0);
    }
}
