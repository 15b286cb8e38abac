namespace Sluice.Usenet.Streams;

/// <summary>The rate at which a reader takes bytes, and what is worth holding ahead of it.</summary>
/// <remarks>Pure state of one reader, guarded by that reader.</remarks>
internal sealed class PacedRate(StreamOptions options, TimeProvider time)
{
    private static readonly TimeSpan Window = TimeSpan.FromSeconds(2);

    private long _start = time.GetTimestamp();
    private long _last = time.GetTimestamp();
    private long _bytes;
    private double _rate;

    /// <summary>Bytes per second of late; 0 while unknown.</summary>
    public double Rate => _rate;

    /// <summary>Bytes worth holding: a few seconds of the rate, or no bound while it is unknown.</summary>
    public long ReadAhead
    {
        get
        {
            Measure(time.GetTimestamp());
            return _rate > 0 ? (long)Math.Min(_rate * options.PacedReadAhead.TotalSeconds, long.MaxValue / 2) : long.MaxValue;
        }
    }

    /// <summary>The reader has taken bytes.</summary>
    public void Delivered(int count)
    {
        var now = time.GetTimestamp();
        if (time.GetElapsedTime(_last, now) > options.PacedReadAhead)
        {
            // A pause is no pace: who plays on after it fills its buffer first.
            (_start, _bytes, _rate) = (now, 0, 0);
        }

        _last = now;
        _bytes += count;
    }

    private void Measure(long now)
    {
        var elapsed = time.GetElapsedTime(_start, now);
        if (elapsed < Window)
            return;
        _rate = _bytes / elapsed.TotalSeconds;
        (_start, _bytes) = (now, 0);
    }
}
