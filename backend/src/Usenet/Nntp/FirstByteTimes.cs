namespace Sluice.Usenet.Nntp;

/// <summary>
/// How long one provider takes from a command to the first byte of its body, of late: enough to say what is unusually long.
/// </summary>
/// <remarks>Thread-safe. Bounded: the oldest time makes room for a new one.</remarks>
internal sealed class FirstByteTimes
{
    private const int Kept = 64;

    // Fewer say nothing about one in twenty.
    private const int FewestTelling = 20;

    private readonly Lock _gate = new();
    private readonly long[] _ticks = new long[Kept];
    private int _count;
    private int _next;

    /// <summary>Nineteen in twenty are shorter; zero while too few are known.</summary>
    public TimeSpan P95
    {
        get
        {
            Span<long> sorted = stackalloc long[Kept];
            int count;
            lock (_gate)
            {
                count = _count;
                _ticks.AsSpan(0, count).CopyTo(sorted);
            }

            if (count < FewestTelling)
                return TimeSpan.Zero;
            sorted = sorted[..count];
            sorted.Sort();
            return TimeSpan.FromTicks(sorted[(count - 1) * 95 / 100]);
        }
    }

    /// <summary>Adds one.</summary>
    public void Observe(TimeSpan time)
    {
        lock (_gate)
        {
            _ticks[_next] = time.Ticks;
            _next = (_next + 1) % Kept;
            _count = Math.Min(_count + 1, Kept);
        }
    }
}
