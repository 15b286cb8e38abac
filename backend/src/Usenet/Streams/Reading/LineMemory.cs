namespace Sluice.Usenet.Streams;

/// <summary>How late the stragglers of the line come, by what all readers of late have found: what one has waited for, the next holds ahead.</summary>
/// <remarks>Thread-safe. Forgets after a minute or two, because lines change and are shared.</remarks>
internal sealed class LineMemory(TimeProvider time)
{
    private static readonly TimeSpan Believed = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();
    private long _since = time.GetTimestamp();
    private double _before;
    private double _now;

    /// <summary>Seconds that a reader waited for an article which had to be asked for twice, the most of a minute or two; 0 when there was none.</summary>
    public double LateSeconds
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

    /// <summary>A reader has waited this many seconds for an article that had to be asked for twice.</summary>
    public void LearnLate(double seconds)
    {
        lock (_gate)
        {
            Age();
            _now = Math.Max(_now, seconds);
        }
    }

    private void Age()
    {
        var at = time.GetTimestamp();
        var elapsed = time.GetElapsedTime(_since, at);
        if (elapsed < Believed)
            return;
        (_since, _before, _now) = (at, elapsed < 2 * Believed ? _now : 0, 0);
    }
}
