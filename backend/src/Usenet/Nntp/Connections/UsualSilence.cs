namespace Sluice.Usenet.Nntp;

/// <summary>
/// How long the connections of one provider are silent in the middle of things, of late: enough to say what is unusually long, and
/// whether any of them is heard at all.
/// </summary>
/// <remarks>Thread-safe. Bounded: the oldest time makes room for a new one.</remarks>
internal sealed class UsualSilence
{
    private const int Kept = 256;

    // Fewer say nothing about one in twenty.
    private const int FewestTelling = 20;

    // What is usual does not change from one article to the next.
    private const int ObservedBetween = 8;

    private readonly Lock _gate = new();
    private long[]? _ticks;
    private int _count;
    private int _next;
    private long _p95 = -1;
    private long _heardAt;

    /// <summary>The longest silence of nineteen in twenty articles is shorter; null while too few are known.</summary>
    public TimeSpan? P95 => Volatile.Read(ref _p95) is var ticks and >= 0 ? TimeSpan.FromTicks(ticks) : null;

    /// <summary>When any of the connections was heard last, in ticks of the time provider.</summary>
    public long HeardAt => Volatile.Read(ref _heardAt);

    /// <summary>A connection has been heard.</summary>
    public void Heard(long now) => Volatile.Write(ref _heardAt, now);

    /// <summary>An article has ended, or was given up: adds its longest silence.</summary>
    public void Observe(TimeSpan silence)
    {
        lock (_gate)
        {
            _ticks ??= new long[Kept];
            _ticks[_next] = silence.Ticks;
            _next = (_next + 1) % Kept;
            _count = Math.Min(_count + 1, Kept);
            if (_count == FewestTelling || (_count > FewestTelling && _next % ObservedBetween == 0))
                Volatile.Write(ref _p95, FindP95());
        }
    }

    private long FindP95()
    {
        Span<long> sorted = stackalloc long[Kept];
        sorted = sorted[.._count];
        _ticks.AsSpan(0, _count).CopyTo(sorted);
        sorted.Sort();
        return sorted[(_count - 1) * 95 / 100];
    }
}
