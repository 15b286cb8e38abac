namespace Sluice.Usenet.Streams;

/// <summary>
/// What readers of late have found the line to hold, rate × round trip, and how late its stragglers come. A reader that has shown
/// that it reads on need not find it out again, step by step, after each open and seek.
/// </summary>
/// <remarks>Thread-safe. Forgets after a minute or two, because lines change and are shared.</remarks>
internal sealed class LineMemory(TimeProvider time)
{
    private static readonly TimeSpan Believed = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();
    private long _since = time.GetTimestamp();
    private double _before;
    private double _now;
    private double _lateBefore;
    private double _lateNow;

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

    /// <summary>Seconds that a reader waited for an article which had to be asked for twice, the most of a minute or two; 0 when there was none.</summary>
    public double LateSeconds
    {
        get
        {
            lock (_gate)
            {
                Age();
                return Math.Max(_lateBefore, _lateNow);
            }
        }
    }

    /// <summary>A reader has waited this many seconds for an article that had to be asked for twice.</summary>
    public void LearnLate(double seconds)
    {
        lock (_gate)
        {
            Age();
            _lateNow = Math.Max(_lateNow, seconds);
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
        if (elapsed < Believed)
            return;
        var isRecent = elapsed < 2 * Believed;
        (_since, _before, _now) = (at, isRecent ? _now : 0, 0);
        (_lateBefore, _lateNow) = (isRecent ? _lateNow : 0, 0);
    }
}
